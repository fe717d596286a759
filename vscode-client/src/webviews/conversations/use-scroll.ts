import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** This close to the end, the end stays in view when something is added. */
const nearPixels = 48;

/** Keeps the end of a log in view while the person is there, and the same place when earlier entries come before it. */
export function useScroll(
  log: { readonly current: HTMLElement | null },
  version: number,
  shown: string,
): {
  readonly isAtEnd: boolean;
  readonly onScroll: () => void;
  readonly toEnd: () => void;
  readonly keeping: (act: () => Promise<void>) => Promise<void>;
} {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const last = useRef({ top: 0, height: 0 });
  const toEnd = (): void => {
    follows.current = true;
    setAtEnd(true);
    requestAnimationFrame(() => log.current?.scrollTo({ top: log.current.scrollHeight }));
  };
  useLayoutEffect(() => {
    if (follows.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, [version]);
  useLayoutEffect(toEnd, [shown]);
  useLayoutEffect(() => {
    const { current } = log;
    if (current === null) return;
    // Cards load their diffs after they were drawn.
    const observer = new ResizeObserver(() => {
      if (follows.current) current.scrollTop = current.scrollHeight;
    });
    observer.observe(current);
    for (const child of current.children) observer.observe(child);
    return () => observer.disconnect();
  }, [version, shown]);
  return {
    isAtEnd,
    onScroll: () => {
      const { current } = log;
      if (current === null) return;
      const { scrollTop: top, scrollHeight: height, clientHeight } = current;
      const isNear = height - top - clientHeight < nearPixels;
      // Only a person moves up while nothing is added.
      const isByPerson = height === last.current.height && top < last.current.top;
      last.current = { top, height };
      if (isNear) follows.current = true;
      else if (isByPerson) follows.current = false;
      if (follows.current !== isAtEnd) setAtEnd(follows.current);
    },
    toEnd,
    keeping: async (act) => {
      const before = log.current?.scrollHeight ?? 0;
      await act();
      requestAnimationFrame(() => {
        const { current } = log;
        if (current !== null) current.scrollTop += current.scrollHeight - before;
      });
    },
  };
}
