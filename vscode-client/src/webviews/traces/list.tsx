import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AgentName } from "../shared/agent-name.tsx";
import { line } from "../shared/text.ts";
import { Time } from "../shared/time.tsx";
import { pageLabel } from "../shared/label.ts";
import { fieldsLine } from "./fields.ts";
import { placeIn, placeWords } from "./place.ts";
import type { Row } from "./rows.ts";

/** The height of one row in CSS pixels, as in the style sheet. */
const rowHeight = 22;
/** Rows drawn above and below the visible part, so that scrolling shows no gap. */
const overscan = 10;

interface ListProps {
  readonly rows: readonly Row[];
  readonly selected: number | undefined;
  /** Stay at the newest row while more arrive. */
  readonly follow: boolean;
  onSelect(key: number | undefined): void;
  onScrolledAway(away: boolean): void;
  onCopy(row: Row): void;
  /** Opens the file that the row names, if any. */
  onOpen(row: Row): void;
}

/** A list of thousands of rows that draws only the visible ones. */
export function TraceList({
  rows,
  selected,
  follow,
  onSelect,
  onScrolledAway,
  onCopy,
  onOpen,
}: ListProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, rows, height]);

  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + overscan);
  const index = rows.findIndex(({ key }) => key === selected);

  const reveal = (row: number): void => {
    if (box.current === null) return;
    const at = row * rowHeight;
    if (at < box.current.scrollTop) box.current.scrollTop = at;
    else if (at + rowHeight > box.current.scrollTop + height) box.current.scrollTop = at + rowHeight - height;
  };
  // The details of the selected row take part of the height; the row is scrolled back into view.
  useLayoutEffect(() => {
    if (index >= 0) reveal(index);
  }, [height]);
  const select = (to: number): void => {
    const row = Math.max(0, Math.min(rows.length - 1, to));
    const next = rows[row];
    if (next === undefined) return;
    onSelect(next.key);
    reveal(row);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index < 0 ? rows.length - 1 : index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    const row = rows[index];
    if (to !== undefined) select(to);
    else if (event.key === "Escape") onSelect(undefined);
    else if (event.key === "Enter" && row !== undefined) onOpen(row);
    else if (event.key === "c" && (event.ctrlKey || event.metaKey) && row !== undefined) onCopy(row);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      class="rows"
      role="listbox"
      tabIndex={0}
      aria-label="Traces, oldest first"
      aria-activedescendant={selected === undefined ? undefined : `row-${selected}`}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        setTop(scrollTop);
        onScrolledAway(scrollHeight - clientHeight - scrollTop > rowHeight);
      }}
    >
      <div class="rows-all" style={{ height: `${rows.length * rowHeight}px` }}>
        <div class="rows-seen" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows.slice(first, last).map((row, offset) => (
            <TraceRow
              key={row.key}
              row={row}
              selected={row.key === selected}
              position={first + offset + 1}
              size={rows.length}
              onSelect={onSelect}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: Row;
  readonly selected: boolean;
  readonly position: number;
  readonly size: number;
  onSelect(key: number): void;
  onOpen(row: Row): void;
}

function TraceRow({ row, selected, position, size, onSelect, onOpen }: RowProps): VNode {
  const { key, entry } = row;
  const place = placeIn(entry.fields);
  return (
    <div
      id={`row-${key}`}
      class={`row level-${entry.level}`}
      role="option"
      aria-selected={selected}
      aria-posinset={position}
      aria-setsize={size}
      onClick={() => onSelect(key)}
      onDblClick={() => onOpen(row)}
    >
      <Time iso={entry.timestamp} without="date" />
      <span class="level">{entry.level}</span>
      <span class="agent one-line">
        <AgentName id={entry.agent} />
      </span>
      <span class="message one-line">
        {place !== undefined && (
          // The keyboard reaches it by Enter on the row.
          <span class="place" title="Go to the line (Enter)" onClick={() => onOpen(row)}>
            <bdi>{pageLabel(placeWords(place), 80)}</bdi>
          </span>
        )}
        <bdi>{line(entry.message)}</bdi>
        {entry.fields !== undefined && (
          <span class="fields">
            {"  "}
            <bdi>{fieldsLine(entry.fields)}</bdi>
          </span>
        )}
      </span>
    </div>
  );
}
