"""Write the drawings of docs/images that code makes: `python -m website.drawings`."""

from __future__ import annotations

from website.charts import draw_start
from website.sliding import draw_sliding
from website.stream_drawings import draw_streams

if __name__ == "__main__":
    draw_sliding()
    draw_start()
    draw_streams()
