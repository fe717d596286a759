/** The module's exports, which `../README.md` and `../hnsw.h` document for authors. Negative results are errors. */
import { candidate, descend, dot, explore, freeSlot, insert, scan, similarityOf, takeOut } from "./graph";
import {
  capacity,
  dimensions,
  efConstruction,
  entry,
  epochField,
  input,
  isSet,
  labelAt,
  layOut,
  live,
  maxEf,
  neighbours,
  none,
  query,
  random,
  record,
  recordBytes,
  results,
  setEntry,
  setLive,
  setRandom,
  setTop,
  sign,
  state,
  stateAt,
  top,
  twinAt,
  upper,
  upperAt,
  upperFreeField,
  upperTopField,
  upperUsedField,
  visitedAt,
} from "./layout";
import { isWhole, read, write } from "./saved";

const badArgument: i32 = -1;
const isFull: i32 = -2;
const badVector: i32 = -3;
const malformed: i32 = -4;

const seed: u32 = 0x9e3779b9;
/** With fewer vectors than this per requested result, comparing with all of them is faster than the graph. */
const exactFactor: u32 = 4;

export function hnsw_bytes(dims: u32, slots: u32, m: u32): u32 {
  return layOut(0, dims, slots, m);
}

export function hnsw_create(set: usize, bytes: u32, dims: u32, slots: u32, m: u32, ef: u32): i32 {
  const needed = layOut(0, dims, slots, m);
  if (needed == 0 || bytes < needed || ef - 1 >= maxEf) return badArgument;
  layOut(set, dims, slots, m);
  store<u32>(set, dims, 4);
  store<u32>(set, slots, 8);
  store<u32>(set, m, 12);
  store<u32>(set, ef, 16);
  setTop(set, 0);
  setLive(set, 0);
  setEntry(set, none);
  setRandom(set, seed);
  store<u32>(set, 0, epochField);
  store<u32>(set, 0, upperTopField);
  store<u32>(set, 0, upperUsedField);
  store<u32>(set, none, upperFreeField);
  memory.fill(visitedAt(set), 0, slots << 2);
  sign(set);
  return 0;
}

export function hnsw_dimensions(set: usize): i32 {
  return isSet(set) ? dimensions(set) : badArgument;
}
export function hnsw_capacity(set: usize): i32 {
  return isSet(set) ? capacity(set) : badArgument;
}
export function hnsw_size(set: usize): i32 {
  return isSet(set) ? live(set) : badArgument;
}
export function hnsw_input(set: usize): usize {
  return input(set);
}
export function hnsw_results(set: usize): usize {
  return results(set);
}

function find(set: usize, label: u32): u32 {
  for (let slot: u32 = 0, end = top(set); slot < end; slot++) {
    if (load<u32>(labelAt(set, slot)) == label && state(set, slot) != 0) return slot;
  }
  return none;
}

export function hnsw_has(set: usize, label: u32): i32 {
  if (!isSet(set)) return badArgument;
  return find(set, label) == none ? 0 : 1;
}

/** Stores the vector with length 1 as the query; false if it has no direction. */
function normalise(set: usize, vector: usize): bool {
  const bytes = dimensions(set) << 2;
  let sum: f64 = 0;
  for (let at: u32 = 0; at < bytes; at += 4) {
    const value = <f64>load<f32>(vector + at);
    sum += value * value;
  }
  // Squares of f32 neither overflow f64 nor vanish in it; NaN and infinity fail here.
  if (!(sum > 0 && sum < Infinity)) return false;
  const factor = 1 / sqrt<f64>(sum);
  for (let at: u32 = 0; at < bytes; at += 4) {
    store<f32>(query(set) + at, <f32>(<f64>load<f32>(vector + at) * factor));
  }
  return true;
}

export function hnsw_add(set: usize, label: u32, vector: usize): i32 {
  if (!isSet(set)) return badArgument;
  if (!normalise(set, vector)) return badVector;
  const before = find(set, label);
  if (before != none) takeOut(set, before);
  const slot = freeSlot(set, capacity(set));
  if (slot == none) return isFull;
  insert(set, slot, label);
  return before == none ? 0 : 1;
}

export function hnsw_remove(set: usize, label: u32): i32 {
  if (!isSet(set)) return badArgument;
  const slot = find(set, label);
  if (slot == none) return 0;
  takeOut(set, slot);
  return 1;
}

export function hnsw_search(set: usize, vector: usize, k: u32, ef: u32): i32 {
  if (!isSet(set) || k - 1 >= maxEf || ef > maxEf) return badArgument;
  if (!normalise(set, vector)) return badVector;
  if (live(set) == 0) return 0;
  const wide = max(k, ef);
  const near = live(set) <= wide * exactFactor ? scan(set, k) : explore(set, descend(set, 0), 0, wide);
  let found: u32 = 0;
  for (let index: u32 = 0; index < near && found < k; index++) {
    // Rounding may result in slightly more than 1.
    const similarity = min<f32>(similarityOf(set, index), 1);
    let slot = candidate(set, index);
    while (slot != none && found < k) {
      const at = results(set) + (found++ << 3);
      store<u32>(at, load<u32>(labelAt(set, slot)));
      store<f32>(at, similarity, 4);
      slot = load<u32>(twinAt(set, slot));
    }
  }
  return found;
}

/** Copies a set into a larger block. */
export function hnsw_resize(set: usize, to: usize, bytes: u32, slots: u32): i32 {
  if (!isSet(set) || slots < capacity(set)) return badArgument;
  const status = hnsw_create(to, bytes, dimensions(set), slots, neighbours(set), efConstruction(set));
  if (status != 0) return status;
  const words = top(set) << 2;
  setTop(to, top(set));
  setLive(to, live(set));
  setEntry(to, entry(set));
  setRandom(to, random(set));
  const uppers = load<u32>(set, upperTopField);
  store<u32>(to, uppers, upperTopField);
  store<u32>(to, load<u32>(set, upperUsedField), upperUsedField);
  store<u32>(to, load<u32>(set, upperFreeField), upperFreeField);
  memory.copy(labelAt(to, 0), labelAt(set, 0), words);
  memory.copy(stateAt(to, 0), stateAt(set, 0), words);
  memory.copy(twinAt(to, 0), twinAt(set, 0), words);
  memory.copy(upperAt(to, 0), upperAt(set, 0), words);
  memory.copy(record(to, 0), record(set, 0), top(set) * recordBytes(set));
  memory.copy(upper(to, 0), upper(set, 0), <u32>(upper(set, uppers) - upper(set, 0)));
  return 0;
}

export function hnsw_saved_bytes(set: usize): i32 {
  return isSet(set) ? write(set, 0) : badArgument;
}

export function hnsw_save(set: usize, to: usize, bytes: u32): i32 {
  if (!isSet(set) || bytes < write(set, 0)) return badArgument;
  return write(set, to);
}

/** Returns the size of the block for a saved set, with room for at least `slots` slots; an error for invalid bytes. */
export function hnsw_load_bytes(from: usize, length: u32, slots: u32): i32 {
  if (!isWhole(from, length)) return malformed;
  const bytes = layOut(0, load<u32>(from, 12), max(slots, load<u32>(from, 24)), load<u32>(from, 16));
  return bytes == 0 ? malformed : bytes;
}

export function hnsw_load(set: usize, bytes: u32, from: usize, length: u32, slots: u32): i32 {
  if (!isWhole(from, length)) return malformed;
  const status = hnsw_create(
    set,
    bytes,
    load<u32>(from, 12),
    max(slots, load<u32>(from, 24)),
    load<u32>(from, 16),
    load<u32>(from, 20),
  );
  if (status != 0) return status;
  if (read(set, from, length)) return 0;
  // A set that was only partly read is invalid.
  store<u32>(set, 0);
  return malformed;
}
