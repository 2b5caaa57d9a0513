// The ops of each device in time, and the tracks in which a timeline shows them.
// An op starts when the one before it on its device has ended and its gap has passed; before the first, none counts.
// In a window that is not warm no gap counts: there it is compiling and loading, a thousand times the kernels.
function lanesOf(ops) {
  const byDevice = new Map();
  for (let row = 0; row < ops.op.length; row += 1) {
    const device = ops.device[row];
    if (!byDevice.has(device)) byDevice.set(device, laneOf(device));
    const lane = byDevice.get(device), first = !lane.rows.length;
    const before = first ? 0 : lane.ends[lane.ends.length - 1], gap = first || !content.warm ? 0 : ops.gap_us[row] || 0;
    const start = Math.max(before + gap, 0), end = start + (ops.kernel_us[row] || 0);
    lane.rows.push(row);
    lane.starts.push(start);
    lane.ends.push(end);
    lane.gaps.push(Math.max(gap, 0));
    lane.end = Math.max(lane.end, end);
    lane.reached.push(lane.end);
    lane.bounds.push(Math.max(BOUNDS.indexOf(cell(ops.bound, row) || NOT_MODELLED), 0));
    lane.cores.push(ops.cores[row] || 0);
    lane.mostCores = Math.max(lane.mostCores, ops.cores[row] || 0);
    stretch(lane.stages, cell(content.stage, row), row, start, end);
    const layer = cell(content.layer, row);
    stretch(lane.layers, layer === null ? null : `layer ${layer}`, row, start, end);
  }
  return [...byDevice.values()];
}

function laneOf(device) {
  return { device, rows: [], starts: [], ends: [], gaps: [], reached: [], bounds: [], cores: [], stages: [], layers: [], mostCores: 0, end: 0 };
}

// Ops of one stage or layer that follow each other, as one stretch.
function stretch(stretches, name, row, start, end) {
  const last = stretches[stretches.length - 1];
  if (!name) return;
  if (last && last.name === name && last.row === row - 1) Object.assign(last, { end, row, ops: last.ops + 1 });
  else stretches.push({ name, start, end, first: row, row, ops: 1 });
}

// Stages and layers stand on top, once: all devices run the same. Of many devices each has less room.
function tracksOf(lanes) {
  const tracks = [], many = lanes.length > 4;
  let top = 0;
  const add = (kind, lane, height, label, space) => {
    const track = { kind, lane, top, height, label };
    tracks.push(track);
    top += height + space;
    return track;
  };
  const leading = lanes.reduce((one, other) => (other.stages.length > one.stages.length ? other : one), lanes[0]);
  if (leading && leading.stages.length) add("stages", leading, 18, "stages", 2);
  if (leading && leading.layers.length) add("layers", leading, 18, "layers", 2);
  for (const lane of lanes) {
    const named = lanes.length > 1 ? `device ${lane.device}` : "ops";
    lane.ops = add("ops", lane, many ? 14 : 40, many ? String(lane.device) : named, many ? 0 : 2);
    lane.waits = many ? null : add("gaps", lane, 12, "gaps", 2);
    lane.work = add("cores", lane, many ? 8 : 36, many ? "" : "cores", many ? 4 : 12);
  }
  return tracks;
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
