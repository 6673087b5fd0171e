// When things are drawn: changes are marked, and everything that is marked is drawn once in the next animation frame,
// however many events came between.

/** @type {Map<string, () => void>} */
const painters = new Map();
const dirty = new Set();
let scheduled = false;

/** Total of what painting has cost, for whoever measures the page: `performance.now()` milliseconds, and frames. */
export const cost = { paint_ms: 0, frames: 0 };

/** Declares how a part of the page is drawn. Parts are drawn in the order of their declaration. */
export function painter(part, paint) {
  painters.set(part, paint);
}

/** Marks parts to be drawn in the next frame. */
export function mark(...parts) {
  for (const part of parts) dirty.add(part);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(flush);
}

function flush() {
  scheduled = false;
  const began = performance.now();
  const parts = [...dirty];
  dirty.clear();
  for (const [part, paint] of painters) if (parts.includes(part)) paint();
  cost.paint_ms += performance.now() - began;
  cost.frames += 1;
}
