import type { VNode } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";

/** Announcements that stay in the page: so many that a screen reader takes each before it is removed. */
const maxKept = 4;

interface Said {
  readonly key: number;
  readonly words: string;
}

/**
 * Returns the last announcements and what adds one. Each is an element of its own: two that come at once are both
 * said, and so is one that says the same as the last.
 */
export function useAnnouncements(): readonly [readonly Said[], (words: string) => void] {
  const [said, setSaid] = useState<readonly Said[]>([]);
  const next = useRef(0);
  const announce = useCallback((words: string): void => {
    if (words.trim() === "") return;
    const key = next.current++;
    setSaid((before) => [...before, { key, words }].slice(-maxKept));
  }, []);
  return [said, announce];
}

/** Announcements of a screen reader, which are not visible. */
export function Announcer({ said }: { readonly said: readonly Said[] }): VNode {
  return (
    <div class="sr" role="status" aria-live="polite" aria-atomic="false" aria-relevant="additions">
      {said.map(({ key, words }) => (
        <p key={key}>{words}</p>
      ))}
    </div>
  );
}
