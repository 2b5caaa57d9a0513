// Every op against its roofline, on logarithmic axes. Two views: the classic one, and measured time over least time.
const NAMES = 14, NAMES_TRIED = 60, SPOT = 24; // as many as one reads; as many as may find no room; pixels of a spot
class Scatter extends Plot {
  constructor(figure) {
    super(figure, { x0: 0, x1: 1, y0: 0, y1: 1 }, true);
    this.classic = true;
    this.prepare();
  }

  prepare() {
    const ops = content.ops, roofline = content.rooflines;
    this.points = [];
    for (let row = 0; row < ops.op.length; row += 1) {
      const kernel = ops.kernel_us[row], flops = roofline.padded_flops[row], bytes = roofline.dram_bytes[row];
      const least = Math.max(roofline.compute_us[row] || 0, roofline.dram_us[row] || 0);
      const [x, y] = this.classic ? [flops / bytes, flops / kernel / 1e6] : [least, kernel];
      if (!(x > 0 && y > 0 && Number.isFinite(x) && Number.isFinite(y))) continue;
      this.points.push({ row, x: Math.log10(x), y: Math.log10(y), bound: Math.max(BOUNDS.indexOf(cell(ops.bound, row) || NOT_MODELLED), 0) });
    }
    this.points.sort((one, other) => ops.kernel_us[other.row] - ops.kernel_us[one.row]);
    this.placeOf = new Map(this.points.map((point, place) => [point.row, place]));
    this.roofs = this.classic ? content.roofs : [];
    this.home = this.bounds();
    this.view = { ...this.home };
    this.selected = null;
    const left = ops.op.length - this.points.length;
    const why = this.classic ? "have no arithmetic, no DRAM traffic or no model of either" : "have no least time: they move nothing through DRAM, or are not modelled";
    document.querySelector("[data-count]").textContent = `${shown(this.points.length)} ops are shown; ${shown(left)} others ${why}.`;
    this.redraw();
  }

  bounds() {
    const xs = this.points.map((point) => point.x), ys = this.points.map((point) => point.y);
    if (!xs.length) return { x0: 0, x1: 1, y0: 0, y1: 1 };
    const tops = this.roofs.filter((roof) => roof.tflops).map((roof) => Math.log10(roof.tflops));
    const low = (values) => values.reduce((least, each) => Math.min(least, each), Infinity);
    const high = (values) => values.reduce((most, each) => Math.max(most, each), -Infinity);
    const box = { x0: low(xs) - 0.3, x1: high(xs) + 0.3, y0: low(ys) - 0.3, y1: Math.max(high(ys), high(tops)) + 0.3 };
    const memory = this.roofs.find((roof) => roof.gbs);
    if (this.classic && memory && tops.length) box.x1 = Math.max(box.x1, high(tops) - Math.log10(memory.gbs / 1e3) + 0.3); // where the roofs meet
    if (this.classic) return box;
    return { ...box, x1: Math.max(box.x1, box.y1), y0: Math.min(box.y0, box.x0) };
  }

  draw(pen, palette) {
    const decades = (low, high) => {
      const values = [];
      for (let power = Math.ceil(low); power <= high; power += 1) values.push([power, powerShown(power)]);
      return values;
    };
    const view = this.view;
    drawAxes(this, pen, palette, {
      xs: decades(view.x0, view.x1),
      ys: decades(view.y0, view.y1),
      xLabel: this.classic ? "arithmetic per byte of DRAM traffic [FLOP/B]" : "least time by the roofline [us]",
      yLabel: this.classic ? "reached [TFLOP/s]" : "measured kernel time [us]",
    });
    this.clipped(pen, () => {
      this.drawRoofs(pen, palette);
      for (let at = this.points.length - 1; at >= 0; at -= 1) this.drawPoint(pen, palette, this.points[at]);
      const chosen = this.points[this.placeOf.get(this.selected)];
      if (chosen) {
        pen.strokeStyle = palette.text;
        pen.lineWidth = 2;
        pen.beginPath();
        pen.arc(this.x(chosen.x), this.y(chosen.y), 10, 0, 7);
        pen.stroke();
      }
      this.drawNames(pen, palette);
    });
    if (!this.points.length) {
      pen.fillStyle = palette.text;
      pen.textAlign = "center";
      pen.fillText("No op of this window has what this view needs.", this.width / 2, this.height / 2);
    }
    drawFocus(this, pen, palette);
  }

  drawRoofs(pen, palette) {
    const { x0, x1 } = this.view;
    pen.strokeStyle = palette.text;
    pen.fillStyle = palette.text;
    pen.lineWidth = 1.5;
    const line = (fromX, fromY, toX, toY) => {
      pen.beginPath();
      pen.moveTo(this.x(fromX), this.y(fromY));
      pen.lineTo(this.x(toX), this.y(toY));
      pen.stroke();
    };
    if (!this.classic) {
      line(x0, x0, x1, x1);
      return;
    }
    const memory = this.roofs.find((roof) => roof.gbs), highest = this.roofs.reduce((most, roof) => Math.max(most, roof.tflops || 0), 0);
    for (const roof of this.roofs) {
      if (roof.gbs) {
        const slope = Math.log10(roof.gbs / 1e3), end = highest ? Math.min(Math.log10(highest) - slope, x1) : x1;
        line(x0, x0 + slope, end, end + slope);
        const middle = (x0 + end) / 2;
        pen.textAlign = "right";
        pen.textBaseline = "bottom";
        const words = `DRAM ${shown(Math.round(roof.gbs))} GB/s`, least = this.x(x0) + pen.measureText(words).width + 4;
        pen.fillText(words, Math.max(this.x(middle) - 8, least), this.y(middle + slope) - 4);
        continue;
      }
      const level = Math.log10(roof.tflops), begin = memory ? Math.max(level - Math.log10(memory.gbs / 1e3), x0) : x0;
      if (begin >= x1) continue;
      line(begin, level, x1, level);
      pen.textAlign = "right";
      pen.textBaseline = "bottom";
      pen.fillText(`${roof.fidelity} ${shown(Number(roof.tflops.toPrecision(3)))} TFLOP/s`, this.x(x1) - 6, this.y(level) - 2);
    }
  }

  drawPoint(pen, palette, point) {
    const x = this.x(point.x), y = this.y(point.y), size = 4;
    pen.fillStyle = palette[BOUNDS[point.bound]];
    pen.beginPath(); // a shape per bound, so that nobody needs the colour
    if (point.bound === 0) pen.arc(x, y, size, 0, 7);
    else if (point.bound === 1) pen.rect(x - size, y - size, 2 * size, 2 * size);
    else if (point.bound === 2) polygon(pen, [[x, y - size - 1], [x + size + 1, y + size], [x - size - 1, y + size]]);
    else if (point.bound === 3) polygon(pen, [[x, y - size - 1], [x + size + 1, y], [x, y + size + 1], [x - size - 1, y]]);
    else polygon(pen, [[x, y + size + 1], [x + size + 1, y - size], [x - size - 1, y - size]]);
    pen.fill();
  }

  // The ops that took longest, as far as their names find room; of those of one name at one spot, the first.
  drawNames(pen, palette) {
    const taken = [], tried = new Set(), { x, y, width, height } = this.area;
    pen.fillStyle = palette.text;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const point of this.points) {
      if (taken.length === NAMES || tried.size === NAMES_TRIED) break;
      const [left, middle] = [this.x(point.x), this.y(point.y)], name = nameOfOp(point.row);
      const spot = `${name} ${Math.round(left / SPOT)} ${Math.round(middle / SPOT)}`;
      if (left < x || left > x + width || middle < y || middle > y + height || tried.has(spot)) continue;
      tried.add(spot);
      const words = `${name} ${content.ops.op[point.row]}`, wide = pen.measureText(words).width;
      const places = [[left + 9, middle], [left - 9 - wide, middle], [left - wide / 2, middle - 15], [left - wide / 2, middle + 15]];
      const boxes = places.map(([from, centre]) => ({ left: from, right: from + wide, top: centre - 7, bottom: centre + 7 }));
      const free = boxes.find((box) => box.left >= x && box.right <= x + width && box.top >= y && box.bottom <= y + height && !taken.some((one) => box.left < one.right && one.left < box.right && box.top < one.bottom && one.top < box.bottom));
      if (!free) continue;
      taken.push(free);
      pen.fillText(words, free.left, free.top + 7);
    }
    this.figure.dataset.names = String(taken.length);
  }

  has(row) {
    return this.placeOf.has(row);
  }

  brief(row) {
    return briefOfOp(row);
  }

  nearest(offsetX, offsetY) {
    let closest = null, least = 900; // a point is hit within 30 pixels
    for (const point of this.points) {
      const distance = (this.x(point.x) - offsetX) ** 2 + (this.y(point.y) - offsetY) ** 2;
      if (distance < least) [closest, least] = [point.row, distance];
    }
    return closest;
  }

  place(row) {
    return this.points[this.placeOf.get(row)];
  }

  step(by) {
    if (!this.points.length) return;
    const at = this.selected === null ? 0 : this.placeOf.get(this.selected) + by;
    this.select(this.points[Math.min(Math.max(at, 0), this.points.length - 1)].row);
  }

  sentence(row) {
    return sentenceOfOp(row);
  }

  swap() {
    this.classic = !this.classic;
    this.prepare();
  }
}

function polygon(pen, corners) {
  corners.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
}

function powerShown(power) {
  return Math.abs(power) < 5 ? shown(Number((10 ** power).toPrecision(6))) : `1e${power}`;
}
