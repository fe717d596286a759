import { Component, type VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AskFailed } from "../shared/host.ts";
import { count, counted } from "../shared/format.ts";
import { useNear } from "../shared/hooks.ts";
import { localClock } from "../shared/local-time.ts";
import type { Host } from "../shared/host.ts";
import { CardChanges, levelWords } from "./card-changes.tsx";
import { CardHead } from "./card-head.tsx";
import { Delta, useDiff } from "./diff.tsx";
import { Icon } from "./icon.tsx";
import type { Approval, Card, ReviewContract } from "./messages.ts";
import { AlwaysPanel, ApproveAllPanel, RejectPanel } from "./panels.tsx";

/** What the page's keys do to the current card. */
export interface CardHandle {
  approve(): void;
  reject(): void;
  always(): void;
  edit(): void;
  show(): void;
  undo(): void;
  takePart(isTaken: boolean): void;
  /** Closes the panel that is open in the card. Returns false if none was open. */
  close(): boolean;
  focus(): void;
}

/** What a card needs from its page; the same object for the lifetime of the page. */
export interface PageActs {
  readonly host: Host<ReviewContract>;
  /** The page has keys for its current card, and Tab reaches that card only. */
  readonly hasKeys: boolean;
  register(id: string, handle: { readonly current: CardHandle } | null): void;
  makeCurrent(id: string): void;
  toggle(id: string): void;
  /**
   * Call it before the request to the kernel, and call the returned function after the answer: it announces the result
   * and moves the focus on.
   */
  deciding(id: string): (words: string) => void;
  announce(words: string): void;
}

interface CardProps {
  readonly card: Card;
  readonly agent: string;
  /** "2 minutes ago" */
  readonly age: string;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly page: PageActs;
}

/** Redrawn only when a property changed. */
export class CardSlot extends Component<CardProps> {
  override shouldComponentUpdate(next: CardProps): boolean {
    return (Object.keys(next) as (keyof CardProps)[]).some((name) => next[name] !== this.props[name]);
  }
  override render(): VNode {
    return <CardView {...this.props} />;
  }
}

type Panel = "reject" | "always" | "all" | null;
/** Cards that change more texts than this list their files instead of their lines. */
const maxOpenTexts = 2;

function CardView({ card, agent, age, isCurrent, isSelected, page }: CardProps): VNode {
  const { host } = page;
  const article = useRef<HTMLElement>(null);
  const isNear = useNear(article);
  const [panel, setPanel] = useState<Panel>(null);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [wasShown, setShown] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [leftFiles, setLeftFiles] = useState<ReadonlySet<number>>(new Set());
  const [leftParts, setLeftParts] = useState<Readonly<Record<number, ReadonlySet<number>>>>({});

  const isWaiting = card.section === "waiting";
  const isRow = !isWaiting && card.section !== "outdated";
  const isMany = card.effects > 1;
  const texts = card.files.filter(({ hasText }) => hasText);
  const isListed = isMany && (card.isAlone || texts.length > maxOpenTexts || card.effects > texts.length + 1);
  const [first] = texts;
  const showsLines = first !== undefined && !isListed && (!isRow || isOpen);
  const diff = useDiff(host, card, first?.effect, isNear && showsLines && texts.length === 1);

  // The parts that the person left out belong to the version that was shown.
  useEffect(() => {
    setLeftFiles(new Set());
    setLeftParts({});
    setPanel(null);
    setFailure(undefined);
  }, [card.digest, card.section]);

  const run = (act: () => Promise<string | undefined>): void => {
    if (isBusy) return;
    setBusy(true);
    setFailure(undefined);
    const decided = page.deciding(card.id);
    act().then(
      (words) => {
        setBusy(false);
        if (words !== undefined) decided(words);
      },
      (error: unknown) => {
        setBusy(false);
        if (!(error instanceof AskFailed)) throw error;
        setFailure(error.message);
        page.announce(error.message);
      },
    );
  };
  const shownName = { id: card.id, digest: card.digest };
  const kept = [...Array.from({ length: card.effects }).keys()].filter((effect) => !leftFiles.has(effect));
  const parts = Object.entries(leftParts).flatMap(([effect, hunks]) =>
    hunks.size > 0 && !leftFiles.has(Number(effect)) ? [{ effect: Number(effect), hunks: [...hunks] }] : [],
  );
  const approveWith = (more: Partial<Approval> = {}): void =>
    run(async () => {
      const effects = kept.length < card.effects ? { effects: kept } : {};
      const leftOut = parts.length > 0 ? { leftOut: parts } : {};
      return (await host.ask("approve", { ...shownName, ...effects, ...leftOut, ...more })).outcome;
    });
  const show = (effect?: number): void => {
    setShown(true);
    run(async () => {
      await host.ask("show", { id: card.id, ...(effect === undefined ? {} : { effect }) });
      return undefined;
    });
  };
  const approve = (): void => {
    if (!isWaiting) return;
    if (card.isAlone && (isMany || card.files.some(({ sign }) => sign === "delete"))) setPanel("all");
    else approveWith();
  };
  const rejectWith = (reason: string): void =>
    run(
      async () => (await host.ask("reject", { ...shownName, ...(reason === "" ? {} : { reason }) })).outcome,
    );
  const undo = (): void => {
    if (card.canUndo) run(async () => (await host.ask("undo", { id: card.id })).outcome);
  };
  const edit = (): void => {
    if (!card.canEdit) return page.announce("There is no text to edit in this proposal.");
    run(async () => {
      await host.ask("edit", shownName);
      return undefined;
    });
  };
  const rebase = (): void =>
    run(async () => {
      const { id } = await host.ask("rebase", { id: card.id });
      await host.ask("show", { id });
      page.makeCurrent(id);
      return "It fits the new text, and waits for you again.";
    });

  const handle: CardHandle = {
    approve: () => (card.showsFirst && !wasShown ? show() : approve()),
    reject: () => {
      if (!isWaiting) return;
      if (panel === "reject") article.current?.querySelector("textarea")?.focus();
      else setPanel("reject");
    },
    always: () => {
      if (isWaiting) setPanel(panel === "always" ? null : "always");
    },
    edit,
    show: () => show(),
    undo,
    takePart: (isTaken) => {
      if (first === undefined || diff === undefined || "failure" in diff) return;
      const focused = document.activeElement?.closest("[data-hunk]")?.getAttribute("data-hunk");
      const hunk = focused == null ? (diff.hunks.length === 1 ? 0 : undefined) : Number(focused);
      if (hunk === undefined) page.announce("Move the focus to a part of the change first.");
      else choosePart(first.effect, hunk, isTaken);
    },
    close: () => {
      if (panel === null) return false;
      setPanel(null);
      article.current?.focus();
      return true;
    },
    focus: () => article.current?.focus(),
  };
  const latest = useRef(handle);
  latest.current = handle;
  useLayoutEffect(() => {
    page.register(card.id, latest);
    return () => page.register(card.id, null);
  }, [page, card.id]);

  function choosePart(effect: number, hunk: number, isTaken: boolean): void {
    setLeftParts((before) => {
      const hunks = new Set(before[effect]);
      if (isTaken) hunks.delete(hunk);
      else hunks.add(hunk);
      return { ...before, [effect]: hunks };
    });
  }
  const chooseFile = (effect: number, isTaken: boolean): void =>
    setLeftFiles((before) => {
      const files = new Set(before);
      if (isTaken) files.delete(effect);
      else files.add(effect);
      return files;
    });

  const tabIndex = isCurrent || !page.hasKeys ? 0 : -1;
  const at = card.ended === undefined ? "" : localClock(card.ended);
  const heading = card.outcome === undefined ? undefined : [card.outcome, at].filter(Boolean).join(" ");
  const hunks = diff === undefined || "failure" in diff ? 0 : diff.hunks.length;
  const leftHunks = first === undefined ? 0 : (leftParts[first.effect]?.size ?? 0);
  const leavesAll = kept.length === 0 || (card.effects === 1 && hunks > 0 && leftHunks === hunks);
  const deletes = card.files.filter(({ sign }) => sign === "delete");
  const approveWords =
    kept.length < card.effects
      ? `Approve ${count(kept.length)} of ${count(card.effects)}`
      : leftHunks > 0
        ? `Approve ${count(hunks - leftHunks)} of ${counted(hunks, "part")}`
        : card.isAlone && isMany
          ? `Approve all ${count(card.effects)}…`
          : card.isAlone && deletes.length > 0
            ? "Approve…"
            : "Approve";
  const isPart = kept.length < card.effects || leftHunks > 0;
  const showWords = isMany ? `Show ${counted(card.effects, "change")}` : "Show";
  const press =
    (act: () => void) =>
    (event: MouseEvent): void => {
      // The second click of a double click would hit what moved into this place.
      if (event.detail < 2) act();
    };
  const place = `${card.name}${card.folder === "" ? "" : ` in ${card.folder}`}`;
  const button = (
    words: string,
    act: () => void,
    more: { primary?: boolean; plain?: boolean; key?: string; open?: boolean; off?: boolean } = {},
  ): VNode => (
    <button
      type="button"
      class={`button ${more.primary === true ? "primary" : more.plain === true ? "plain" : ""}`}
      tabIndex={tabIndex}
      disabled={isBusy || more.off === true}
      aria-label={`${words}: ${place}`}
      {...(more.open === undefined ? {} : { "aria-expanded": more.open })}
      onClick={press(act)}
    >
      {words}
      {/* The style sheet draws the key: as text it would have to be part of the label. */}
      {isCurrent && page.hasKeys && more.key !== undefined && <kbd aria-hidden="true" data-key={more.key} />}
    </button>
  );
  const togglePanel = (which: Exclude<Panel, null>) => (): void => setPanel(panel === which ? null : which);

  const spoken = `${place}. ${heading === undefined ? "" : `${heading}. `}${agent} proposes: ${card.title}. ${levelWords[card.level].slice(0, -1)} change.`;
  return (
    <article
      ref={article}
      class={`card ${isCurrent ? "current" : ""} ${isRow ? "row-card" : ""}`}
      data-id={card.id}
      tabIndex={page.hasKeys || isWaiting ? tabIndex : -1}
      aria-label={spoken}
      aria-busy={isBusy}
      onFocusCapture={() => page.makeCurrent(card.id)}
      onClickCapture={() => page.makeCurrent(card.id)}
    >
      <CardHead
        card={card}
        agent={agent}
        age={age}
        heading={heading}
        isSelected={isSelected}
        onSelect={() => page.toggle(card.id)}
        onRule={() => run(async () => void (await host.ask("showRule", { id: card.id })))}
        tabIndex={tabIndex}
      >
        <span class="side">
          <Delta diff={diff} />
          {isRow && (
            <>
              {card.canUndo && button("Undo", undo, isCurrent ? { key: "U" } : {})}
              <button
                type="button"
                class="button icon-only"
                tabIndex={tabIndex}
                aria-expanded={isOpen}
                aria-label={`${isOpen ? "Hide what changed" : "Show what changed"}: ${place}`}
                onClick={() => setOpen(!isOpen)}
              >
                <Icon name={isOpen ? "down" : "right"} />
              </button>
            </>
          )}
        </span>
      </CardHead>
      {card.section === "outdated" && (
        <p class="banner">
          <Icon name="clock" />
          <span>
            {card.error ?? "The file was changed after this was proposed, so nothing was applied."}
            {card.canRebase && " The proposal still fits: what changed meanwhile stays as it is."}
          </span>
        </p>
      )}
      {(!isRow || isOpen) && (
        <CardChanges
          host={host}
          card={card}
          isListed={isListed}
          showsLines={showsLines}
          diff={diff}
          isNear={isNear}
          heading={heading}
          leftFiles={leftFiles}
          leftParts={leftParts}
          onFile={chooseFile}
          onPart={choosePart}
          onShow={show}
          tabIndex={tabIndex}
        />
      )}
      {failure !== undefined && (
        <p class="banner bad" role="alert">
          <Icon name="shield" />
          <span>{failure}</span>
        </p>
      )}
      {isRow && isOpen && (
        <footer class="actions">{button("Show in an editor", () => show(), { plain: true })}</footer>
      )}
      {isWaiting && (
        <footer class="actions">
          {card.showsFirst &&
            button(showWords, () => show(), { primary: panel === null, key: wasShown ? "Enter" : "A" })}
          {card.isAlone && isMany && deletes.length > 0 && deletes.length < card.effects && !isPart && (
            <>
              {button(
                deletes.length === 1
                  ? `Approve ${count(card.effects - 1)}, keep ${nameOf(deletes[0]!.path)}`
                  : `Approve ${count(card.effects - deletes.length)}, delete nothing`,
                () =>
                  approveWith({
                    effects: [...Array.from({ length: card.effects }).keys()].filter(
                      (effect) => !deletes.some((file) => file.effect === effect),
                    ),
                  }),
              )}
            </>
          )}
          {button(approveWords, isPart ? () => approveWith() : approve, {
            primary: !card.showsFirst && panel === null,
            plain: card.isAlone && isMany && !isPart,
            off: leavesAll,
            ...(card.showsFirst && !wasShown ? {} : { key: "A" }),
          })}
          {button("Reject…", togglePanel("reject"), { key: "R", open: panel === "reject" })}
          {card.canEdit && button("Edit", edit, { key: "E" })}
          {!card.showsFirst && button("Show", () => show(), { plain: true })}
          {button("Always allow…", togglePanel("always"), { plain: true, open: panel === "always" })}
        </footer>
      )}
      {card.section === "outdated" && (
        <footer class="actions">
          {card.canRebase && button("Fit to the new text and show", rebase, { primary: true })}
          {button("Show", () => show(), { plain: true })}
        </footer>
      )}
      {panel === "reject" && (
        <RejectPanel agent={agent} onReject={rejectWith} onClose={() => handle.close()} />
      )}
      {panel === "always" && (
        <AlwaysPanel
          card={card}
          agent={agent}
          onAllow={(scope) => approveWith({ scope })}
          onDecisions={() => run(async () => void (await host.ask("showDecisions", {})))}
          onClose={() => handle.close()}
        />
      )}
      {panel === "all" && (
        <ApproveAllPanel card={card} onApprove={() => approveWith()} onClose={() => handle.close()} />
      )}
    </article>
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
