// The axes of a picture, and the frame around the one that has the keyboard.
// Round values between two bounds, at most `most` of them.
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) || power;
  const values = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) values.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return values;
}

function drawAxes(plot, pen, palette, { xs, ys, xLabel, yLabel }) {
  const { x, y, width, height } = plot.area;
  pen.fillStyle = palette.quiet;
  pen.strokeStyle = palette.line;
  pen.lineWidth = 1;
  pen.textBaseline = "top";
  pen.textAlign = "center";
  for (const [value, label] of xs) {
    const at = Math.round(plot.x(value)) + 0.5;
    if (at < x - 1 || at > x + width + 1) continue;
    pen.beginPath();
    pen.moveTo(at, y);
    pen.lineTo(at, y + height);
    pen.stroke();
    pen.fillText(label, Math.min(Math.max(at, x + 8), x + width - 16), y + height + 3);
  }
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const [value, label] of ys) {
    const at = Math.round(plot.y(value)) + 0.5;
    if (at < y - 1 || at > y + height + 1) continue;
    pen.beginPath();
    pen.moveTo(x, at);
    pen.lineTo(x + width, at);
    pen.stroke();
    pen.fillText(label, x - 5, at);
  }
  pen.fillStyle = palette.text;
  pen.textBaseline = "bottom";
  pen.fillText(xLabel, x + width, plot.height - 1);
  if (!yLabel) return;
  pen.textAlign = "left";
  pen.textBaseline = "top";
  pen.fillText(yLabel, x + 4, y + 2);
}

function drawFocus(plot, pen, palette) {
  if (document.activeElement !== plot.canvas) return;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 3;
  pen.strokeRect(1.5, 1.5, plot.width - 3, plot.height - 3);
}
