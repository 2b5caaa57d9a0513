"""Screenshots as coarse mosaics that are kept: a page that looks otherwise than it did fails, letters alone do not."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

KEPT = Path(__file__).parent / "screens"
COLUMNS, ROWS = 50, 32  # cells of 28 pixels on a screen of 1400 x 900
STEPS = 2  # of sixteen: a cell that differs by more looks otherwise
DIFFERENT = 0.03  # of the cells: a line of text that wraps elsewhere
MOSAIC = """async ([picture, columns, rows]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const pen = new OffscreenCanvas(columns, rows).getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, columns, rows);
  const digits = [...pen.getImageData(0, 0, columns, rows).data].filter((_, place) => place % 4 < 3).map((each) => (each >> 4).toString(16));
  return Array.from({ length: rows }, (_, row) => digits.slice(row * columns * 3, (row + 1) * columns * 3).join(""));
}"""
FONTS = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  return ["system-ui", "monospace"].map((font) => { pen.font = `100px ${font}`; return Math.round(pen.measureText("Halo 0.8").width); }).join(" ");
}"""


def same_as_kept(chromium: Browser, page: Page, name: str, pictures: Path) -> None:
    """Compare what a page shows with the kept screen; where there is none, this one is kept, and is to be looked at."""
    pictures.mkdir(parents=True, exist_ok=True)
    picture = page.screenshot(path=pictures / f"{name}.png", animations="disabled", caret="hide")
    blank = chromium.new_page()
    fonts = blank.evaluate(FONTS)
    lines = blank.evaluate(MOSAIC, [base64.b64encode(picture).decode(), COLUMNS, ROWS])
    blank.close()
    file = KEPT / f"{name}.txt"
    if not file.exists():
        KEPT.mkdir(exist_ok=True)
        file.write_text("\n".join([fonts, *lines, ""]), encoding="utf-8")
        pytest.fail(f"kept as {file}: look at {pictures / name}.png, then run again")
    kept_fonts, *kept = file.read_text(encoding="utf-8").split("\n")[:-1]
    if fonts != kept_fonts:
        pytest.skip(f"kept with other fonts: look at {pictures / name}.png, or remove {file} to keep it with these")
    pairs = zip("".join(lines), "".join(kept), strict=True)
    steps = [abs(int(one, 16) - int(other, 16)) for one, other in pairs]
    changed = sum(max(steps[cell : cell + 3]) > STEPS for cell in range(0, len(steps), 3))
    assert changed <= DIFFERENT * COLUMNS * ROWS, (
        f"{name}: {changed} cells changed; look at {pictures / name}.png, and where that is right remove {file}"
    )
