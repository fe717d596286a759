import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAgentName } from "../shared/agent-name.tsx";
import { ago, count, counted } from "../shared/format.ts";
import { failureOf, useNow, usePush, useCommonState } from "../shared/hooks.ts";
import { Notice, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { line } from "../shared/text.ts";
import { BatchBar } from "./batch-bar.tsx";
import { CardSlot, type CardHandle, type PageActs } from "./card.tsx";
import { FilterRail, FilterRow, focusFilter } from "./filters.tsx";
import { Icon } from "./icon.tsx";
import { KeyHelp } from "./key-help.tsx";
import type { KeyCommand } from "./keys.ts";
import { maxBatch, type Card, type ReviewContract, type Section } from "./messages.ts";
import {
  batchWords,
  bySection,
  cardsByKey,
  firstUndrawn,
  nextWaiting,
  optionsOf,
  pageOfCards,
  sections,
  titleOf,
  type Filter,
} from "./shown.ts";
import { TitledSection } from "./titled-section.tsx";
import { noCards, useCards } from "./use-cards.ts";
import { useKeys } from "./use-keys.ts";

type Props = Pick<PageProps<ReviewContract>, "host">;

/** The page on which a person decides: every proposal as a card, with the outcome of past ones. */
export function ReviewView({ host }: Props): VNode {
  const commonState = useCommonState(host);
  return (
    <WhileRunning host={host} commonState={commonState}>
      <Review host={host} />
    </WhileRunning>
  );
}

function Review({ host }: Props): VNode {
  const [filter, setFilter] = useState<Filter>({});
  const [current, setCurrent] = useState<string>();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [limits, setLimits] = useState<Partial<Record<Section, number>>>({});
  const [spoken, setSpoken] = useState("");
  const [told, setTold] = useState<string>();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [rejecting, setRejecting] = useState(false);
  const nowMs = useNow();
  const nameOf = useAgentName(200);
  const handles = useRef(new Map<string, { readonly current: CardHandle }>());
  /** The card that gets the focus once it is drawn. */
  const focusNext = useRef<string | undefined>(undefined);
  const root = useRef<HTMLElement>(null);

  const lookForFocus = (): void => {
    host.ask("focus", {}).then(
      ({ id }) => {
        if (id === undefined) return;
        focusNext.current = id;
        setFilter({});
        setCurrent(id);
      },
      () => undefined,
    );
  };
  usePush(host, "focus", lookForFocus);
  const cards = useCards(host, lookForFocus, setTold);

  const lists = useMemo(() => bySection(cards ?? noCards, filter), [cards, filter]);
  const options = useMemo(() => optionsOf(cards ?? noCards), [cards]);
  const drawn = useMemo(
    () =>
      sections.map((section) => ({
        section,
        cards: lists[section].slice(0, limits[section] ?? pageOfCards),
      })),
    [lists, limits],
  );
  const order = useMemo(() => drawn.flatMap(({ cards }) => cards.map(({ id }) => id)), [drawn]);
  const waiting = lists.waiting;
  const chosen = useMemo(() => waiting.filter(({ id }) => selected.has(id)), [waiting, selected]);
  const inBatch = useMemo(() => waiting.filter(({ isAlone }) => !isAlone), [waiting]);
  const isSome = waiting.length < options.all;

  // When the current card goes, the card after it becomes the current one.
  const lastOrder = useRef<readonly string[]>([]);
  useEffect(() => {
    const before = lastOrder.current;
    lastOrder.current = order;
    if (order.length === 0) return;
    if (current !== undefined && order.includes(current)) return;
    const at = current === undefined ? -1 : before.indexOf(current);
    const next = at < 0 ? undefined : before.slice(at + 1).find((id) => order.includes(id));
    setCurrent(next ?? order[0]);
  }, [order, current]);
  useEffect(() => {
    if (focusNext.current === undefined || focusNext.current !== current) return;
    const handle = handles.current.get(focusNext.current)?.current;
    if (handle === undefined) return;
    focusNext.current = undefined;
    handle.focus();
  });
  useEffect(() => {
    const items = waiting.slice(0, maxBatch).map(({ id, digest }) => ({ id, digest }));
    // An error means that the extension is shutting down together with the page.
    void host.ask("shown", { items }).catch(() => undefined);
  }, [host, waiting]);

  useEffect(() => {
    // When the person returns from a diff, the current card has the focus again.
    const onFocus = (): void => {
      const { current: id } = live.current;
      if (id !== undefined && document.activeElement === document.body)
        handles.current.get(id)?.current.focus();
    };
    window.addEventListener("focus", onFocus);
    return () => window.removeEventListener("focus", onFocus);
  }, []);
  const waits = useMemo(
    () => (drawn.find(({ section }) => section === "waiting")?.cards ?? []).map(({ id }) => id),
    [drawn],
  );
  const live = useRef({ waits, current });
  live.current = { waits, current };
  const page = useMemo<PageActs>(
    () => ({
      host,
      hasKeys: true,
      register: (id, handle) => {
        if (handle === null) handles.current.delete(id);
        else handles.current.set(id, handle);
      },
      makeCurrent: (id) => setCurrent(id),
      toggle: (id) =>
        setSelected((before) => {
          const after = new Set(before);
          if (!after.delete(id)) after.add(id);
          return after;
        }),
      deciding: (id) => {
        // The card may move to the decided ones before the answer arrives.
        const before = live.current.waits;
        return (words) => {
          setSpoken(words);
          if (live.current.current !== id) return;
          const next = nextWaiting(before, live.current.waits, id) ?? id;
          focusNext.current = next;
          setCurrent(next);
        };
      },
      announce: setSpoken,
    }),
    [host],
  );

  const move = (to: string | undefined): void => {
    if (to === undefined) return;
    focusNext.current = to;
    setCurrent(to);
    handles.current.get(to)?.current.focus();
  };
  const showMore = (section: Section, by: number): void => {
    const shown = drawn.find((one) => one.section === section)?.cards.length ?? 0;
    setLimits({ ...limits, [section]: shown + by });
  };
  const step = (by: 1 | -1): void => {
    const at = current === undefined ? -1 : order.indexOf(current);
    const more = by > 0 ? firstUndrawn(drawn, lists, order[at]) : undefined;
    if (more !== undefined) {
      showMore(more.section, cardsByKey);
      focusNext.current = more.id;
      return setCurrent(more.id);
    }
    const next = order[at + by];
    if (next !== undefined) return move(next);
    if (by > 0 && order.length > 0) setSpoken("This is the last one.");
  };
  const batch = (
    what: string,
    ask: () => Promise<{ done: number; failures: readonly string[]; isLeft?: boolean | undefined }>,
  ): void => {
    ask().then(
      (result) => {
        if (result.isLeft === true) return;
        setSelected(new Set());
        setRejecting(false);
        const words = batchWords(what, result);
        setSpoken(words);
        setTold(result.failures.length === 0 ? undefined : words);
      },
      (error: unknown) => setTold(failureOf(error).message),
    );
  };
  const items = (some: readonly Card[]) => some.slice(0, maxBatch).map(({ id, digest }) => ({ id, digest }));
  const selectShown = (): void => {
    setSelected(new Set(inBatch.map(({ id }) => id)));
    const alone = waiting.length - inBatch.length;
    setSpoken(
      `${count(inBatch.length)} selected.${alone > 0 ? ` ${counted(alone, "large one")} not: each must be decided on its own.` : ""}`,
    );
  };
  const approveSelected = (): void => {
    if (chosen.length === 0) return selectShown();
    batch("Approved", () => host.ask("approveAll", { items: items(chosen) }));
  };
  const rejectSelected = (): void => {
    if (chosen.length === 0) return selectShown();
    setRejecting(true);
  };
  const undoLatest = (): void => {
    const own = current === undefined ? undefined : (cards ?? noCards).get(current);
    const target = own?.canUndo === true ? own : lists.decided.find(({ canUndo }) => canUndo);
    if (target === undefined) return setSpoken("There is nothing to undo.");
    handles.current.get(target.id)?.current.undo();
  };

  const obey = (command: KeyCommand): void => {
    const handle = current === undefined ? undefined : handles.current.get(current)?.current;
    switch (command) {
      case "next":
        return step(1);
      case "previous":
        return step(-1);
      case "first":
        return move(order[0]);
      case "last":
        return move(order.at(-1));
      case "approve":
        return handle?.approve();
      case "reject":
        return handle?.reject();
      case "edit":
        return handle?.edit();
      case "show":
        return handle?.show();
      case "always":
        return handle?.always();
      case "takePart":
        return handle?.takePart(true);
      case "leavePart":
        return handle?.takePart(false);
      case "undo":
        return undoLatest();
      case "select": {
        const card = current === undefined ? undefined : (cards ?? noCards).get(current);
        if (card?.section !== "waiting") return;
        if (card.isAlone) return setSpoken("A large change must be decided on its own.");
        return page.toggle(card.id);
      }
      case "approveSelected":
        return approveSelected();
      case "rejectSelected":
        return rejectSelected();
      case "filter":
        return focusFilter(root.current);
      case "keys":
        return setHelpOpen((before) => !before);
      case "close":
        if (handle?.close() === true) return;
        setRejecting(false);
        setHelpOpen(false);
        return handle?.focus();
    }
  };
  useKeys(obey);

  if (cards === undefined) return <Notice kind="busy" title={told ?? "Loading…"} />;
  const automatic = lists.automatic.filter(({ canUndo }) => canUndo);
  const cardOf = (card: Card): VNode => (
    <CardSlot
      key={card.id}
      card={card}
      agent={nameOf(card.agent)}
      age={ago(card.ended ?? card.created, nowMs)}
      isCurrent={card.id === current}
      isSelected={selected.has(card.id)}
      page={page}
    />
  );
  const sectionOf = (section: Section): VNode => {
    const all = lists[section];
    const shown = drawn.find((one) => one.section === section)?.cards ?? [];
    return (
      <>
        <div class={`cards ${section}`}>{shown.map(cardOf)}</div>
        {shown.length < all.length && (
          <button type="button" class="button more-cards" onClick={() => showMore(section, 2 * pageOfCards)}>
            Show {count(Math.min(2 * pageOfCards, all.length - shown.length))} more of{" "}
            {count(all.length - shown.length)}
          </button>
        )}
      </>
    );
  };

  return (
    <main ref={root} class="review surface">
      <header class="head">
        <div class="row titlebar">
          <h1 class="grow">{titleOf(options.all)}</h1>
          <button
            type="button"
            class="button plain"
            onClick={() => void host.ask("showDecisions", {}).catch(() => undefined)}
          >
            Remembered decisions
          </button>
        </div>
        <FilterRow options={options} filter={filter} onFilter={setFilter} nameOf={nameOf} />
        <KeyHelp isOpen={isHelpOpen} onToggle={() => setHelpOpen(!isHelpOpen)} />
      </header>
      <p class="sr" role="status" aria-live="polite">
        {spoken}
      </p>
      <div class="with-rail">
        <FilterRail options={options} filter={filter} onFilter={setFilter} nameOf={nameOf} />
        <div class="body">
          {told !== undefined && (
            <p class="banner bad" role="alert">
              <Icon name="shield" />
              <span>{line(told, 2_000)}</span>
            </p>
          )}
          <div class="section">
            <h2>Waiting for you</h2>
            <span class={`count ${waiting.length > 0 ? "waiting" : ""}`}>{count(waiting.length)}</span>
            {isSome && <span class="muted small">of {count(options.all)}</span>}
            <span class="grow" />
            {inBatch.length > 1 && (
              <button type="button" class="button plain small" onClick={selectShown}>
                Select all {count(inBatch.length)} shown
              </button>
            )}
          </div>
          {waiting.length === 0 ? (
            <p class="muted empty">
              {isSome
                ? "Nothing that waits matches the filter."
                : "Nothing waits. Changes that an agent proposes are shown here before anything happens."}
            </p>
          ) : (
            sectionOf("waiting")
          )}
          <TitledSection cards={lists.outdated} title="Out of date" note="not counted as waiting">
            {sectionOf("outdated")}
          </TitledSection>
          {lists.automatic.length > 0 && (
            <section aria-label="Applied automatically">
              <div class="section">
                <h2>{counted(lists.automatic.length, "change", "changes")} applied automatically</h2>
                <span class="grow" />
                {automatic.length > 1 && (
                  <button
                    type="button"
                    class="button plain small"
                    onClick={() => batch("Undone", () => host.ask("undoAll", { items: items(automatic) }))}
                  >
                    <Icon name="undo" />
                    Undo all {count(automatic.length)}
                  </button>
                )}
              </div>
              {sectionOf("automatic")}
            </section>
          )}
          <TitledSection cards={lists.replaced} title="Replaced" note="a newer proposal took their place">
            {sectionOf("replaced")}
          </TitledSection>
          <TitledSection cards={lists.decided} title="Decided">
            {sectionOf("decided")}
          </TitledSection>
        </div>
      </div>
      {chosen.length > 0 && (
        <BatchBar
          amount={chosen.length}
          isRejecting={rejecting}
          onApprove={approveSelected}
          onReject={rejectSelected}
          onRejectWith={(reason) =>
            batch("Rejected", () =>
              host.ask("rejectAll", { items: items(chosen), ...(reason === "" ? {} : { reason }) }),
            )
          }
          onClose={() => setRejecting(false)}
          onClear={() => setSelected(new Set())}
        />
      )}
    </main>
  );
}
