import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Bin } from "../shared/days.ts";
import { counted, dayName } from "../shared/format.ts";

interface Days {
  readonly from: string;
  readonly to: string;
}

interface HistogramProps {
  readonly bins: readonly Bin[];
  readonly chosen: Days | undefined;
  onChoose(days: Days | undefined): void;
}

const chartHeight = 44;

/**
 * Bars to select days: a press selects one, a drag several. On the keyboard, arrows move, Shift with an arrow extends,
 * Enter selects, and Escape clears the selection. Pressing the selected bar again clears it, too.
 */
export function Histogram({ bins, chosen, onChoose }: HistogramProps): VNode | null {
  const [current, setCurrent] = useState(bins.length - 1);
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number }>();
  const anchor = useRef<number | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  // The button may be released outside the histogram.
  useEffect(() => {
    if (drag === undefined) return;
    const release = (): void => {
      setDrag(undefined);
      choose(drag.start, drag.end);
    };
    addEventListener("pointerup", release, { once: true });
    return () => removeEventListener("pointerup", release);
  }, [drag]);
  if (bins.length === 0) return null;

  const first = bins[0]?.from ?? "";
  const last = bins.at(-1)?.to ?? "";
  const most = Math.max(...bins.map(({ count }) => count), 1);
  const focused = Math.max(0, Math.min(current, bins.length - 1));
  const isChosen = ({ from, to }: Bin): boolean =>
    chosen !== undefined && from <= chosen.to && to >= chosen.from;
  const inDrag = (index: number): boolean =>
    drag !== undefined && index >= Math.min(drag.start, drag.end) && index <= Math.max(drag.start, drag.end);
  const choose = (start: number, end: number): void => {
    const from = bins[Math.min(start, end)]?.from;
    const to = bins[Math.max(start, end)]?.to;
    if (from === undefined || to === undefined) return;
    onChoose(chosen?.from === from && chosen.to === to ? undefined : { from, to });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Record<string, number> = {
      ArrowLeft: focused - 1,
      ArrowRight: focused + 1,
      Home: 0,
      End: bins.length - 1,
    };
    const to = moves[event.key];
    if (event.key === "Escape") onChoose(undefined);
    else if (event.key === "Enter" || event.key === " ") choose(anchor.current ?? focused, focused);
    else if (to !== undefined) {
      const next = Math.max(0, Math.min(bins.length - 1, to));
      if (!event.shiftKey) anchor.current = undefined;
      else anchor.current ??= focused;
      setCurrent(next);
      box.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
    } else return;
    event.preventDefault();
  };

  return (
    <div class="histogram-box">
      <div
        ref={box}
        class="histogram"
        role="group"
        aria-label="Events by day; choose days to see only theirs"
        onKeyDown={onKeyDown}
      >
        {bins.map((bin, index) => (
          <button
            key={bin.from}
            type="button"
            tabIndex={index === focused ? 0 : -1}
            class={inDrag(index) || (drag === undefined && isChosen(bin)) ? "bar chosen" : "bar"}
            aria-pressed={isChosen(bin)}
            aria-label={nameOf(bin)}
            title={nameOf(bin)}
            onPointerDown={(event) => {
              if (event.button !== 0) return;
              setCurrent(index);
              setDrag({ start: index, end: index });
            }}
            onPointerEnter={() => setDrag((before) => before && { start: before.start, end: index })}
          >
            <i
              aria-hidden="true"
              style={{ height: `${bin.count === 0 ? 0 : Math.max(2, (bin.count / most) * chartHeight)}px` }}
            />
          </button>
        ))}
      </div>
      <div class="histogram-ends quiet" aria-hidden="true">
        <span>{dayName(first)}</span>
        {last !== first && <span>{dayName(last)}</span>}
      </div>
    </div>
  );
}

function nameOf({ from, to, count }: Bin): string {
  const days = from === to ? dayName(from) : `${dayName(from)} – ${dayName(to)}`;
  return `${days} (UTC): ${counted(count, "event")}`;
}
