"""Functions as syntax trees."""

from concurrent.futures import ThreadPoolExecutor

from windrow.compiler.syntax import define, definition_of

TEXT = "\n".join(
    f"def f{number}(x):\n    return {' + '.join(['x', '(x * 2)'] * 40)} + {number}"
    for number in range(30)
)


def test_threads_make_trees_at_once():
    def made(_turn):
        namespace = {}
        define(TEXT, "<text>", namespace)
        assert definition_of(namespace["f29"]).name == "f29"
        return namespace["f29"](1)

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(made, range(60)))) == 1
