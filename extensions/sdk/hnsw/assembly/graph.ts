/** The graph: searches for near vectors, and insertion and removal that leave no link to a removed vector. */
import {
  beam,
  dimensions,
  efConstruction,
  entry,
  epochField,
  isGraph,
  labelAt,
  listOf,
  live,
  maxLevel,
  neighbours,
  none,
  query,
  roll,
  setEntry,
  setLive,
  setTop,
  state,
  stateAt,
  top,
  twinAt,
  twinState,
  upper,
  upperAt,
  upperFreeField,
  upperLimit,
  upperTopField,
  upperUsedField,
  vectorAt,
  visitedAt,
} from "./layout";

/** A candidate whose neighbours were examined. */
const expanded: u32 = 0x80000000;

export function dot(set: usize, a: usize, b: usize): f32 {
  const bytes = (<usize>dimensions(set)) << 2;
  const whole = a + (bytes & ~15);
  const end = a + bytes;
  let s0: f32 = 0;
  let s1: f32 = 0;
  let s2: f32 = 0;
  let s3: f32 = 0;
  while (a < whole) {
    s0 += load<f32>(a) * load<f32>(b);
    s1 += load<f32>(a, 4) * load<f32>(b, 4);
    s2 += load<f32>(a, 8) * load<f32>(b, 8);
    s3 += load<f32>(a, 12) * load<f32>(b, 12);
    a += 16;
    b += 16;
  }
  while (a < end) {
    s0 += load<f32>(a) * load<f32>(b);
    a += 4;
    b += 4;
  }
  return s0 + s1 + (s2 + s3);
}

/** Inserts a candidate in order among `count`, of which at most `limit` are kept. Returns its index, or `limit`. */
function offer(candidates: usize, count: u32, limit: u32, similarity: f32, slot: u32): u32 {
  let at = count;
  if (at == limit && load<f32>(candidates + (--at << 3)) >= similarity) return limit;
  while (at != 0) {
    const before = candidates + ((at - 1) << 3);
    if (load<f32>(before) >= similarity) break;
    store<u64>(before, load<u64>(before), 8);
    at--;
  }
  const place = candidates + (at << 3);
  store<f32>(place, similarity);
  store<u32>(place, slot, 4);
  return at;
}

export function candidate(set: usize, index: u32): u32 {
  return load<u32>(beam(set) + (index << 3), 4) & ~expanded;
}
export function similarityOf(set: usize, index: u32): f32 {
  return load<f32>(beam(set) + (index << 3));
}

/** Puts the `limit` nearest of all vectors into the beam. Always exact, and for small sets faster than the graph. */
export function scan(set: usize, limit: u32): u32 {
  let count: u32 = 0;
  for (let slot: u32 = 0, end = top(set); slot < end; slot++) {
    if (!isGraph(set, slot, 0)) continue;
    const similarity = dot(set, query(set), vectorAt(set, slot));
    if (offer(beam(set), count, limit, similarity, slot) < limit && count < limit) count++;
  }
  return count;
}

/** Follows a level's links from `from` and puts up to `limit` vectors nearest to the query into the beam. */
export function explore(set: usize, from: u32, level: u32, limit: u32): u32 {
  const candidates = beam(set);
  const visited = visitedAt(set);
  const epoch = load<u32>(set, epochField) + 1;
  store<u32>(set, epoch, epochField);
  // After 2^32 searches, marks of the first would be valid again.
  if (epoch == 0) {
    memory.fill(visited, 0, top(set) << 2);
    return explore(set, from, level, limit);
  }
  store<u32>(visited + (from << 2), epoch);
  offer(candidates, 0, limit, dot(set, query(set), vectorAt(set, from)), from);
  let count: u32 = 1;
  let at: u32 = 0;
  while (at < count) {
    const place = candidates + (at << 3);
    const slot = load<u32>(place, 4);
    at++;
    if (slot & expanded) continue;
    store<u32>(place, slot | expanded, 4);
    let link = listOf(set, slot, level);
    const end = link + (load<u32>(link) << 2);
    while (link < end) {
      link += 4;
      const next = load<u32>(link);
      const mark = visited + (next << 2);
      if (load<u32>(mark) == epoch) continue;
      store<u32>(mark, epoch);
      const found = offer(candidates, count, limit, dot(set, query(set), vectorAt(set, next)), next);
      if (found == limit) continue;
      if (count < limit) count++;
      if (found < at) at = found;
    }
  }
  return count;
}

/** Returns the slot at which to begin on `level`: the nearest one that is found on the levels above. */
export function descend(set: usize, level: u32): u32 {
  let slot = entry(set);
  for (let above = state(set, slot) - 1; above > level; above--) {
    explore(set, slot, above, 1);
    slot = candidate(set, 0);
  }
  return slot;
}

/**
 * Chooses those of the beam's candidates that lead in different directions: one that is nearer to a chosen one than
 * to the middle is skipped. Filling up with skipped ones was tried: building took 2.5 times as long, with the same
 * recall to the third digit.
 */
function choose(set: usize, count: u32, list: usize, limit: u32): void {
  let chosen: u32 = 0;
  for (let index: u32 = 0; index < count && chosen < limit; index++) {
    const slot = candidate(set, index);
    const similarity = similarityOf(set, index);
    let other: u32 = 1;
    while (other <= chosen) {
      if (dot(set, vectorAt(set, slot), vectorAt(set, load<u32>(list + (other << 2)))) > similarity) break;
      other++;
    }
    if (other > chosen) store<u32>(list + (++chosen << 2), slot);
  }
  store<u32>(list, chosen);
}

function limitOf(set: usize, level: u32): u32 {
  return level == 0 ? neighbours(set) << 1 : neighbours(set);
}

/** Adds a link from `slot` to `other` on a level; if the list is full, keeps the best links. */
function link(set: usize, slot: u32, other: u32, level: u32): void {
  const list = listOf(set, slot, level);
  const count = load<u32>(list);
  const limit = limitOf(set, level);
  if (count < limit) {
    store<u32>(list, count + 1);
    store<u32>(list + ((count + 1) << 2), other);
    return;
  }
  const middle = vectorAt(set, slot);
  for (let index: u32 = 0; index <= count; index++) {
    const one = index == 0 ? other : load<u32>(list + (index << 2));
    offer(beam(set), index, none, dot(set, middle, vectorAt(set, one)), one);
  }
  choose(set, count + 1, list, limit);
}

function takeUpper(set: usize): u32 {
  store<u32>(set, load<u32>(set, upperUsedField) + 1, upperUsedField);
  const free = load<u32>(set, upperFreeField);
  if (free != none) {
    store<u32>(set, load<u32>(upper(set, free)), upperFreeField);
    return free;
  }
  const index = load<u32>(set, upperTopField);
  store<u32>(set, index + 1, upperTopField);
  return index;
}

/** Gives a slot its lists for `level` levels above the lowest, as far as lists are left. Returns the slot's level. */
export function reach(set: usize, slot: u32, level: u32): u32 {
  let at = upperAt(set, slot);
  let got: u32 = 0;
  const limit = upperLimit(top(set), neighbours(set));
  while (got < level && load<u32>(set, upperUsedField) < limit) {
    const index = takeUpper(set);
    store<u32>(at, index);
    at = upper(set, index);
    store<u32>(at, 0, 4);
    got++;
  }
  store<u32>(stateAt(set, slot), got + 1);
  return got;
}

/** Releases a slot's upper lists and its state. */
function release(set: usize, slot: u32): void {
  let index = load<u32>(upperAt(set, slot));
  // A twin has no lists: its state is negative.
  for (let left = <i32>state(set, slot); left > 1; left--) {
    const at = upper(set, index);
    const next = load<u32>(at);
    store<u32>(at, load<u32>(set, upperFreeField));
    store<u32>(set, index, upperFreeField);
    store<u32>(set, load<u32>(set, upperUsedField) - 1, upperUsedField);
    index = next;
  }
  store<u32>(stateAt(set, slot), 0);
}

/** Returns the lowest free slot, so that the same calls always give the same result; `none` if the set is full. */
export function freeSlot(set: usize, limit: u32): u32 {
  const end = top(set);
  if (end != live(set)) {
    let slot: u32 = 0;
    while (state(set, slot) != 0) slot++;
    return slot;
  }
  if (end == limit) return none;
  setTop(set, end + 1);
  return end;
}

function isSame(set: usize, a: usize, b: usize): bool {
  for (const end = a + ((<usize>dimensions(set)) << 2); a < end; a += 4, b += 4) {
    if (load<u32>(a) != load<u32>(b)) return false;
  }
  return true;
}

/** Inserts the query into the slot. */
export function insert(set: usize, slot: u32, label: u32): void {
  store<u32>(labelAt(set, slot), label);
  store<u32>(twinAt(set, slot), none);
  memory.copy(vectorAt(set, slot), query(set), dimensions(set) << 2);
  setLive(set, live(set) + 1);
  let wanted: u32 = 0;
  while (wanted < maxLevel && roll(set) % neighbours(set) == 0) wanted++;
  const level = reach(set, slot, wanted);
  store<u32>(listOf(set, slot, 0), 0);
  const start = entry(set);
  if (start == none) {
    setEntry(set, slot);
    return;
  }
  const highest = state(set, start) - 1;
  const first = min(level, highest);
  let from = descend(set, first);
  // Its own lists come first, because no link leads to it yet: if its twin is found, it joins the twin's chain
  // instead.
  for (let at = first + 1; at-- != 0;) {
    const count = explore(set, from, at, efConstruction(set));
    from = candidate(set, 0);
    if (at == 0) {
      for (let index: u32 = 0; index < count && similarityOf(set, index) > 0.999; index++) {
        const other = candidate(set, index);
        if (!isSame(set, query(set), vectorAt(set, other))) continue;
        release(set, slot);
        store<u32>(stateAt(set, slot), twinState);
        store<u32>(twinAt(set, slot), load<u32>(twinAt(set, other)));
        store<u32>(twinAt(set, other), slot);
        return;
      }
    }
    choose(set, count, listOf(set, slot, at), neighbours(set));
  }
  for (let at = first + 1; at-- != 0;) {
    const list = listOf(set, slot, at);
    for (let index = load<u32>(list); index != 0; index--) {
      link(set, load<u32>(list + (index << 2)), slot, at);
    }
  }
  if (level > highest) setEntry(set, slot);
}

/** Returns its index in the list, the last one if there are several; 0 if it is not in the list. */
export function contains(list: usize, slot: u32): u32 {
  let index = load<u32>(list);
  while (index != 0 && load<u32>(list + (index << 2)) != slot) index--;
  return index;
}

/**
 * Removes a slot from a level: each slot that linked to it gets a link to the nearest of its neighbours that it has
 * no link to yet.
 */
function unlink(set: usize, slot: u32, level: u32): void {
  const own = listOf(set, slot, level);
  for (let other: u32 = 0, end = top(set); other < end; other++) {
    if (other == slot || !isGraph(set, other, level)) continue;
    const list = listOf(set, other, level);
    const index = contains(list, slot);
    if (index == 0) continue;
    const count = load<u32>(list);
    // The last entry takes its place.
    store<u32>(list + (index << 2), load<u32>(list + (count << 2)));
    store<u32>(list, count - 1);
    let best: u32 = none;
    let highest: f32 = -2;
    for (let at = load<u32>(own); at != 0; at--) {
      const one = load<u32>(own + (at << 2));
      if (one == other || contains(list, one) != 0) continue;
      const similarity = dot(set, vectorAt(set, one), vectorAt(set, other));
      if (similarity > highest) {
        highest = similarity;
        best = one;
      }
    }
    if (best != none) link(set, other, best, level);
  }
}

/** Returns a slot on the highest level; `none` if there are no slots. */
export function highestSlot(set: usize): u32 {
  let best: u32 = none;
  let level: i32 = 0;
  for (let slot: u32 = 0, end = top(set); slot < end; slot++) {
    if (<i32>state(set, slot) <= level) continue;
    level = <i32>state(set, slot);
    best = slot;
  }
  return best;
}

/** Removes the vector in this slot; the slot is then free, or used by another one with the same vector. */
export function takeOut(set: usize, slot: u32): void {
  let gone = slot;
  const next = load<u32>(twinAt(set, slot));
  if (state(set, slot) == twinState) {
    let before: u32 = 0;
    while (load<u32>(twinAt(set, before)) != slot || state(set, before) == 0) before++;
    store<u32>(twinAt(set, before), next);
  } else if (next != none) {
    store<u32>(labelAt(set, slot), load<u32>(labelAt(set, next)));
    store<u32>(twinAt(set, slot), load<u32>(twinAt(set, next)));
    gone = next;
  } else {
    for (let level = state(set, slot); level-- != 0;) unlink(set, slot, level);
  }
  release(set, gone);
  setLive(set, live(set) - 1);
  if (entry(set) == gone) setEntry(set, highestSlot(set));
}
