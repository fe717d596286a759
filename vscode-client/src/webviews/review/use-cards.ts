import { useEffect, useState } from "preact/hooks";
import { failureOf, usePush } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import type { ReviewContract } from "./messages.ts";
import { merged, type Cards } from "./shown.ts";

export const noCards: Cards = new Map();

/** Returns the cards, kept up to date; undefined until the first answer, after which `loaded` is called. */
export function useCards(
  host: Host<ReviewContract>,
  loaded: () => void,
  failed: (message: string) => void,
): Cards | undefined {
  const [cards, setCards] = useState<Cards>();
  usePush(host, "changed", ({ cards: changed, gone }) =>
    setCards((before) => merged(before ?? noCards, changed, gone)),
  );
  useEffect(() => {
    // Cards that were pushed meanwhile are newer than the answer.
    host.ask("cards", {}).then(
      ({ cards: first }) => {
        setCards((before) => merged(merged(noCards, first, []), [...(before ?? noCards).values()], []));
        loaded();
      },
      (error: unknown) => failed(failureOf(error).message),
    );
  }, [host]);
  return cards;
}
