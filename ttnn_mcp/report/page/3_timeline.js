// Ops and gaps of every device on one axis of time, and below each lane the cores that worked.
class Timeline extends Plot {
  constructor(figure) {
    const lanes = lanesOf(content.ops);
    const end = Math.max(...lanes.map((lane) => lane.end), 1e-3);
    super(figure, { x0: 0, x1: end, y0: 0, y1: 1 }, false);
    this.lanes = lanes;
    this.laneOf = new Map(lanes.map((lane, place) => [lane.device, place]));
    const many = lanes.length > 4;
    this.heights = many ? { stage: 0, ops: 14, cores: 8, space: 4 } : { stage: 16, ops: 40, cores: 40, space: 12 };
    const each = this.heights.stage + this.heights.ops + this.heights.cores + this.heights.space;
    this.canvas.style.height = `${lanes.length * each + MARGIN.top + MARGIN.bottom}px`;
    this.mostCores = Math.max(content.card.worker_cores || 1, ...lanes.map((lane) => lane.mostCores));
    this.redraw();
  }

  draw(pen, palette) {
    const { x0, x1 } = this.view, { stage, ops, cores, space } = this.heights;
    const xs = ticks(x0, x1, Math.max(this.area.width / 90, 2)).map((value) => [value, shown(Number(value.toPrecision(7)))]);
    drawAxes(this, pen, palette, { xs, ys: [], xLabel: "microseconds since the window began", yLabel: "" });
    this.lanes.forEach((lane, place) => {
      const top = this.area.y + place * (stage + ops + cores + space);
      pen.fillStyle = palette.text;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(ops > 20 ? `device ${lane.device}` : String(lane.device), this.area.x - 5, top + stage + ops / 2);
      if (cores > 20) {
        pen.fillStyle = palette.quiet;
        pen.fillText(`${this.mostCores} cores`, this.area.x - 5, top + stage + ops + 8);
        pen.fillText("0", this.area.x - 5, top + stage + ops + cores - 4);
      }
      this.clipped(pen, () => this.drawLane(pen, palette, lane, top));
    });
    drawFocus(this, pen, palette);
  }

  drawLane(pen, palette, lane, top) {
    const { stage, ops, cores } = this.heights, { x0, x1 } = this.view, { x: left, width } = this.area;
    const columns = Math.ceil(width) + 1, perUs = width / (x1 - x0);
    pen.fillStyle = palette.gap;
    pen.fillRect(this.x(0), top + stage, (lane.end) * perUs, ops);
    const covered = BOUNDS.map(() => new Float32Array(columns)), worked = new Float32Array(columns);
    const last = lowerBound(lane.starts, x1);
    let narrow = false;
    for (let at = lowerBound(lane.reached, x0); at < last; at += 1) {
      const begin = (lane.starts[at] - x0) * perUs, wide = (lane.ends[at] - lane.starts[at]) * perUs;
      if (wide < 1) {
        const column = Math.floor(begin);
        if (column < 0 || column >= columns) continue;
        narrow = true;
        covered[lane.bounds[at]][column] += wide;
        worked[column] += wide * lane.cores[at];
        continue;
      }
      const inside = wide > 2 ? wide - 0.5 : wide; // a hairline between neighbours
      pen.fillStyle = palette[BOUNDS[lane.bounds[at]]];
      pen.fillRect(left + begin, top + stage, inside, ops);
      const high = ((lane.cores[at] || 0) / this.mostCores) * cores;
      pen.fillStyle = palette.bar;
      pen.fillRect(left + begin, top + stage + ops + cores - high, inside, high);
      if (wide > 46 && ops > 20) this.label(pen, palette, lane.rows[at], Math.max(begin, 0), Math.min(begin + wide, width), top + stage + ops / 2);
    }
    if (narrow) this.drawColumns(pen, palette, covered, worked, top + stage);
    this.drawStages(pen, palette, lane, top);
    this.drawSelected(pen, palette, lane, top + stage);
  }

  // Ops narrower than a pixel: a column is filled as far as kernels fill its time, in the colour of most of it.
  drawColumns(pen, palette, covered, worked, top) {
    const { ops, cores } = this.heights, left = this.area.x;
    for (let column = 0; column < worked.length; column += 1) {
      let busy = 0, most = 0;
      covered.forEach((times, bound) => {
        busy += times[column];
        if (times[column] > covered[most][column]) most = bound;
      });
      if (!busy) continue;
      const filled = Math.min(busy, 1) * ops, high = (worked[column] / busy / this.mostCores) * cores;
      pen.fillStyle = palette[BOUNDS[most]];
      pen.fillRect(left + column, top + ops - filled, 1, filled);
      pen.fillStyle = palette.bar;
      pen.fillRect(left + column, top + ops + cores - high, 1, high);
    }
  }

  label(pen, palette, row, begin, end, middle) {
    const name = cell(content.ops.op_code, row).replace(/DeviceOperation$/, "");
    const fits = Math.floor((end - begin - 8) / 7);
    if (fits < 3) return;
    pen.fillStyle = palette.panel;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(name.length > fits ? `${name.slice(0, fits - 1)}…` : name, this.area.x + begin + 4, middle);
  }

  drawStages(pen, palette, lane, top) {
    if (!this.heights.stage) return;
    for (const stretch of lane.stages) {
      const begin = this.x(stretch.start), wide = this.x(stretch.end) - begin;
      if (wide < 1) continue;
      pen.fillStyle = palette.line;
      pen.fillRect(begin, top, wide - 1, this.heights.stage - 2);
      if (wide < 50) continue;
      pen.fillStyle = palette.text;
      pen.textAlign = "left";
      pen.textBaseline = "middle";
      pen.fillText(stretch.name, Math.max(begin, this.area.x) + 4, top + this.heights.stage / 2 - 1);
    }
  }

  drawSelected(pen, palette, lane, top) {
    const at = this.selected === null ? -1 : lane.rows.indexOf(this.selected);
    if (at < 0) return;
    const begin = this.x(lane.starts[at]), wide = Math.max(this.x(lane.ends[at]) - begin, 2);
    pen.strokeStyle = palette.text;
    pen.lineWidth = 2;
    pen.strokeRect(begin, top + 1, wide, this.heights.ops - 2);
  }

  nearest(offsetX, offsetY) {
    const { stage, ops, cores, space } = this.heights;
    const place = Math.min(Math.max(Math.floor((offsetY - this.area.y) / (stage + ops + cores + space)), 0), this.lanes.length - 1);
    const lane = this.lanes[place], at = lowerBound(lane.starts, this.valueAt(offsetX, offsetY).x);
    return lane.rows[Math.max(at - 1, 0)];
  }

  place(row) {
    const lane = this.lanes[this.laneOf.get(content.ops.device[row])], at = lane.rows.indexOf(row);
    return { x: (lane.starts[at] + lane.ends[at]) / 2, y: 0.5 };
  }

  step(by) {
    if (this.selected === null) return this.select(this.lanes[0].rows[0]);
    const lane = this.lanes[this.laneOf.get(content.ops.device[this.selected])];
    const at = lane.rows.indexOf(this.selected) + by;
    return this.select(lane.rows[Math.min(Math.max(at, 0), lane.rows.length - 1)]);
  }

  jump(by) {
    if (this.selected === null) return this.step(0);
    const place = this.laneOf.get(content.ops.device[this.selected]) + by;
    const lane = this.lanes[Math.min(Math.max(place, 0), this.lanes.length - 1)];
    const at = lowerBound(lane.starts, this.place(this.selected).x);
    return this.select(lane.rows[Math.max(at - 1, 0)]);
  }

  sentence(row) {
    return sentenceOfOp(row);
  }
}

// The first place whose value is not below `wanted`.
function lowerBound(values, wanted) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// An op starts when the one before it on its device has ended and its gap has passed; before the first, none counts.
// In a window that is not warm no gap counts: there it is compiling and loading, a thousand times the kernels.
function lanesOf(ops) {
  const byDevice = new Map();
  for (let row = 0; row < ops.op.length; row += 1) {
    const device = ops.device[row];
    if (!byDevice.has(device)) byDevice.set(device, { device, rows: [], starts: [], ends: [], reached: [], bounds: [], cores: [], stages: [], mostCores: 0, end: 0 });
    const lane = byDevice.get(device), first = !lane.rows.length;
    const before = first ? 0 : lane.ends[lane.ends.length - 1];
    const start = Math.max(before + (first || !content.warm ? 0 : ops.gap_us[row] || 0), 0), end = start + (ops.kernel_us[row] || 0);
    lane.rows.push(row);
    lane.starts.push(start);
    lane.ends.push(end);
    lane.end = Math.max(lane.end, end);
    lane.reached.push(lane.end);
    lane.bounds.push(Math.max(BOUNDS.indexOf(cell(ops.bound, row) || NOT_MODELLED), 0));
    lane.cores.push(ops.cores[row] || 0);
    lane.mostCores = Math.max(lane.mostCores, ops.cores[row] || 0);
    const stage = cell(content.stage, row), stretch = lane.stages[lane.stages.length - 1];
    if (stage && stretch && stretch.name === stage && stretch.row === row - 1) Object.assign(stretch, { end, row });
    else if (stage) lane.stages.push({ name: stage, start, end, row });
  }
  return [...byDevice.values()];
}
