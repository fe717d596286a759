/** Two places in the text of a chat file, in UTF-16 units. They move with what the person edits. */
export interface Places {
  /** The offset at which the next answer is written: behind the last message that was sent. */
  readonly answer: number;
  /**
   * Text before it is never sent: it was sent already, or was an answer, or was in the file before the kernel saw
   * anybody write it. At `answer` or behind it.
   */
  readonly floor: number;
}

/**
 * Returns where an offset of a text is after the text was changed. One that stood within replaced text is behind the new
 * text then.
 */
export function offsetMover(before: string, after: string): (offset: number) => number {
  if (before === after) return (offset) => offset;
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before.charCodeAt(same) === after.charCodeAt(same)) same++;
  let tail = 0;
  while (
    tail < most - same &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail++;
  return (offset) => {
    if (offset <= same) return offset;
    if (offset >= before.length - tail) return offset + after.length - before.length;
    return after.length - tail;
  };
}

export function movedPlaces(before: string, after: string, { answer, floor }: Places): Places {
  const moved = offsetMover(before, after);
  return { answer: moved(answer), floor: moved(floor) };
}

/**
 * Returns where `written` ends, without the blanks behind it, if it stands in the text at `at`, or, because an editor may have
 * put it elsewhere, behind that; null if it does not. Line breaks of any kind are equal: editors write those of the file.
 */
export function endOfWritten(text: string, written: string, at: number): number | null {
  const wanted = withLineFeeds(written).trimEnd();
  const rest = withLineFeeds(text.slice(at));
  const found = rest.indexOf(wanted);
  if (found === -1) return null;
  let end = at + found + wanted.length;
  if (rest.length === text.length - at) return end;
  // Each break before it is one unit longer in the text itself.
  for (let place = text.indexOf("\r\n", at); place !== -1 && place < end; end++)
    place = text.indexOf("\r\n", place + 2);
  return end;
}

function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replaceAll("\r\n", "\n") : text;
}
