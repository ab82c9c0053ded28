"""Every HTML page as a picture beside an approved one (at half size): light and dark, wide and
narrow; ``--approve`` writes new pictures.

All text is in a font whose characters are boxes, and form controls have no theme, so that layout
and charts are compared on any machine. A page differs where more than `SHARE` of its blocks of
`BLOCK` pixels do, by more than `LEVEL` of 255 in mean colour, wherever within `SHIFT` pixels.
"""

import base64
import zlib
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from block_font import block_font
from ragassay.reports.html import pages
from reports_examples import example, pair

APPROVED = Path(__file__).parent / "approved"
PAGES = ("report", "comparison")
THEMES = ("light", "dark")
WIDTHS = (1280, 400)

BLOCK, SHIFT = 8, 2
"""Pixels of a picture: two of the page's."""

LEVEL, SHARE = 24, 0.002

Picture = NDArray[np.uint8]
STYLE = """
@font-face { font-family: Block; font-weight: 1 1000; src: url(data:font/ttf;base64,%s) }
*, *::before, *::after {
  font-family: Block !important; font-synthesis: none !important; font-kerning: none !important;
  text-rendering: geometricPrecision !important; /* widths that no hinting rounds */
  transition: none !important; animation: none !important; caret-color: transparent !important;
}
select, input, button { appearance: none !important }
"""
PIXELS = """async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, image.width, image.height).data;
  const small = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate"));
  const packed = new Uint8Array(await new Response(small).arrayBuffer());
  let text = "";
  for (let at = 0; at < packed.length; at += 32768)
    text += String.fromCharCode(...packed.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""
"""The pixels, packed: megabytes take a second on their way out of the browser."""


class Shooter(NamedTuple):
    """Opens pages, and reads pictures in a browser's page of its own."""

    folder: Path
    reader: Any

    def show(self, tab: Any, page: str, theme: str, width: int) -> None:
        """Loads the page, and opens its first row."""
        tab.emulate_media(color_scheme=theme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.goto((self.folder / f"{page}.html").as_uri())
        tab.wait_for_selector("#queries tbody tr")
        font = base64.b64encode(block_font()).decode()
        tab.add_style_tag(content=STYLE % font)
        assert tab.evaluate("document.fonts.load('16px Block').then(found => found.length)")
        tab.locator("#queries .expand").first.click()
        tab.locator(".opened-row").wait_for()
        tab.mouse.move(0, 0)
        tab.evaluate("document.activeElement.blur()")

    def pixels(self, png: bytes) -> Picture:
        """The colours of a PNG file, shape ``(height, width, 3)``."""
        source = "data:image/png;base64," + base64.b64encode(png).decode()
        width, height, text = self.reader.evaluate(PIXELS, source)
        flat = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
        return flat.reshape(height, width, 4)[:, :, :3]


def sums(picture: Picture) -> NDArray[np.int64]:
    """Of all pixels above and to the left of each corner."""
    found = picture.astype(np.int64).cumsum(axis=0).cumsum(axis=1)
    return np.pad(found, ((1, 0), (1, 0), (0, 0)))


def means(sums: NDArray[np.int64], down: int = 0, right: int = 0) -> NDArray[np.float64]:
    """The mean colour of each whole block, from an offset on."""
    corners = sums[down::BLOCK, right::BLOCK]
    blocks = corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1]
    return blocks / BLOCK**2


def unlike(found: Picture, approved: Picture) -> NDArray[np.bool_]:
    """Which blocks of the approved picture are not there, nor within `SHIFT`."""
    height = min(found.shape[0], approved.shape[0])
    wanted = means(sums(approved[:height]))
    rows, columns, _ = wanted.shape
    margin = ((SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0))
    padded = sums(np.pad(found[:height], margin, mode="edge"))
    least = np.full((rows, columns), np.inf)
    for down, right in product(range(2 * SHIFT + 1), repeat=2):
        moved = means(padded, down, right)[:rows, :columns]
        least = np.minimum(least, np.abs(moved - wanted).max(axis=2))
    return least > LEVEL


def difference(found: Picture, approved: Picture) -> str:
    """What a person should know about two pictures; empty where they are alike."""
    tall, was = found.shape[0], approved.shape[0]
    if found.shape[1] != approved.shape[1] or abs(tall - was) > max(2 * SHIFT, SHARE * was):
        return f"{found.shape[1]} x {tall} pixels, approved were {approved.shape[1]} x {was}"
    if np.array_equal(found, approved):
        return ""
    blocks = unlike(found, approved)
    if blocks.mean() <= SHARE:
        return ""
    rows, columns = np.nonzero(blocks)
    box = [2 * BLOCK * int(edge) for edge in (columns.min(), rows.min(), columns.max(), rows.max())]
    return f"{blocks.mean():.1%} of the page differ, between {box[:2]} and {box[2:]} (CSS pixels)"


@pytest.fixture(scope="module")
def shooter(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Shooter:
    """Of every page that the tool writes, of made-up data that no metric's change touches."""
    folder = tmp_path_factory.mktemp("pages")
    pages.write_report(example(12), folder / "report.html")
    pages.write_comparison(pair(12)[0], folder / "comparison.html")
    return Shooter(folder, chromium.new_page())


@pytest.fixture(scope="module")
def tab(chromium: Any) -> Any:
    """A browser's page at half size, in which one page is loaded after the other."""
    return chromium.new_page(bypass_csp=True, device_scale_factor=0.5)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_looks_as_it_was_approved(shooter, tab, tmp_path, request, page, theme, width):
    path = APPROVED / f"{page}-{theme}-{width}.png"
    shooter.show(tab, page, theme, width)
    found: bytes = tab.screenshot(full_page=True, animations="disabled")
    if request.config.getoption("--approve"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(found)
    assert path.is_file(), "no picture was approved yet: pytest --approve writes it"
    said = difference(shooter.pixels(found), shooter.pixels(path.read_bytes()))
    if said:
        (tmp_path / path.name).write_bytes(found)
    assert not said, f"{path.name}: {said}; it is now {tmp_path / path.name}"
