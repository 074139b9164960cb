"""What is particular to a server behind a network: passwords, and answers that do not come."""

import logging
import socket
import traceback

import pytest

import windrow as wr
from tests.support.stores.server import Server, free_port
from windrow.stores import RedisStore
from windrow.stores.contract import NO_BLOCK, Key

pytest.importorskip("redis", reason="pip install 'windrow[redis]'")

KEY = Key("a", 0, 7)
SECRET = "s3cret-pa55word"


def everything_said(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def test_a_wrong_password_is_refused_and_not_shown(
    redis_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = RedisStore(f"redis://:{SECRET}@127.0.0.1:{redis_server.port}")
    with pytest.raises(wr.StoreError, match=r"RedisStore 127.0.0.1:\d+/0> cannot read") as caught:
        store.get_many([KEY])
    assert SECRET not in everything_said(caught.value) + caplog.text + repr(store)


def test_the_password_is_not_shown(redis_server: Server) -> None:
    with RedisStore(redis_server.address) as store:
        store.put_many({KEY: b"seven"})
        assert store.get_many([KEY]) == [b"seven"]
        assert redis_server.password not in repr(store)


@pytest.mark.parametrize(
    "address",
    [f"redis://:{SECRET}@host:no-port", f"http://:{SECRET}@host", f"redis://:{SECRET}@host/?db=x"],
)
def test_an_address_that_is_none_is_not_shown(address: str) -> None:
    with pytest.raises(wr.InvalidArgument, match="address") as caught:
        RedisStore(address)
    assert SECRET not in everything_said(caught.value)


def test_tls_is_asked_for_by_the_address() -> None:
    store = RedisStore(f"rediss://user:{SECRET}@host:6380/2?ssl_cert_reqs=required")
    assert "SSL" in store._client.connection_pool.connection_class.__name__
    assert repr(store) == "<RedisStore host:6380/2>"


def test_no_server_is_named() -> None:
    port = free_port()
    store = RedisStore(f"redis://:{SECRET}@127.0.0.1:{port}/?socket_timeout=0.1")
    with pytest.raises(
        wr.StoreError, match=f"127.0.0.1:{port}/0> cannot write 'a' level 0 block 7"
    ):
        store.put_many({KEY: b""})


def test_a_server_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/?socket_timeout=0.05"
        with pytest.raises(wr.StoreError, match="cannot read 'a' level 0 block 7"):
            RedisStore(address).get_many([KEY])


def test_many_blocks_are_deleted(redis_server: Server) -> None:
    with RedisStore(redis_server.address) as store:
        store.put_many({Key("many", 0, block): b"x" for block in range(10_000)})
        store.delete_range("many", 0, 0, 9_999)
        assert store.blocks("many", 0, 0, NO_BLOCK) == [9_999]
