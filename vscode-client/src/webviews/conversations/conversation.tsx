import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAgentName } from "../shared/agent-name.tsx";
import { failureOf, useNow } from "../shared/hooks.ts";
import type { Host } from "../shared/host.ts";
import { Failed, Notice } from "../shared/notice.tsx";
import { block, line, whole } from "../shared/text.ts";
import { Announcer, useAnnouncements } from "./announcer.tsx";
import { Composer, noDraft, type Draft } from "./composer.tsx";
import { ContextView } from "./context-view.tsx";
import { Asked, cardPage } from "./decisions.tsx";
import { ConversationHead } from "./head.tsx";
import { Icon, Sign } from "./icon.tsx";
import type { ConversationsContract } from "./messages.ts";
import { spokenBetween, waitingWords } from "./spoken.ts";
import { StatusLine } from "./status-line.tsx";
import { aroundOf, TurnView } from "./turn-view.tsx";
import { pinnedIn, turnsOf } from "./turns.ts";
import { useConversation, type OpenConversation } from "./use-conversation.ts";
import { useScroll } from "./use-scroll.ts";
import { isAtWork, kindOf, nameOf } from "./words.ts";

interface ConversationProps {
  readonly host: Host<ConversationsContract>;
  readonly id: string;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
  readonly focus: number;
}

export function ConversationPage(props: ConversationProps): VNode {
  const { host, id, onClose } = props;
  const { followed, again, loadEarlier } = useConversation(host, id);
  switch (followed.kind) {
    case "loading":
      return <Notice kind="busy" title="Loading the conversation…" />;
    case "failed":
      return (
        <main class="conversations">
          <Failed message={followed.message} {...(followed.isGone ? {} : { again })} />
          <div class="new">
            <button type="button" class="button" onClick={onClose}>
              All conversations
            </button>
          </div>
        </main>
      );
    case "open":
      return <Open {...props} conversation={followed.conversation} loadEarlier={loadEarlier} />;
  }
}

/** Characters of a message that a question about it repeats. */
const maxQuoted = 300;

interface Sending {
  readonly key: string;
  readonly draft: Draft;
  readonly failure?: string;
}

interface OpenProps extends ConversationProps {
  readonly conversation: OpenConversation;
  readonly loadEarlier: () => Promise<void>;
}

function Open(props: OpenProps): VNode {
  const { host, id, draft, onDraft, onOpen, onClose, conversation, loadEarlier } = props;
  const { head, transcript, version, decisions, pinnedBefore } = conversation;
  const [shown, setShown] = useState<string>();
  const [isContext, setContext] = useState(false);
  const [current, setCurrent] = useState<string>();
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const [failure, setFailure] = useState<string>();
  const [said, announce] = useAnnouncements();
  const [focus, setFocus] = useState(0);
  const [models, setModels] = useState<readonly string[]>([]);
  const log = useRef<HTMLDivElement>(null);
  const agent = useAgentName()(head.agent);
  const nowMs = useNow();
  const channel = head.processes.find(({ kind }) => kind === "channel")?.id ?? "";
  const process = shown ?? channel;
  const isMain = process === channel;

  const turns = useMemo(() => turnsOf(transcript, process, channel), [transcript, version, process, channel]);
  const pinned = useMemo(
    () => pinnedIn(transcript.entries, pinnedBefore),
    [transcript, version, pinnedBefore],
  );
  const processes = useMemo(() => new Map(head.processes.map((one) => [one.id, one])), [head]);
  const cards = useMemo(() => new Map(decisions.cards.map((card) => [card.id, card])), [decisions]);
  const questions = useMemo(() => new Map(decisions.questions.map((one) => [one.id, one])), [decisions]);
  const placed = useMemo(
    () =>
      new Set(turns.flatMap(({ items }) => items.flatMap((item) => (item.kind === "ask" ? [item.ref] : [])))),
    [turns],
  );
  const sent = useMemo(
    () =>
      turns.flatMap(({ items }) =>
        items.flatMap((item) =>
          item.kind === "you" && item.from === "person"
            ? [item.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")]
            : [],
        ),
      ),
    [turns],
  );
  const scroll = useScroll(log, version, process);

  // Whole messages are announced, never what streams.
  const heard = useRef(transcript.entries.at(-1)?.seq ?? 0);
  useEffect(() => {
    for (const words of spokenBetween(transcript.entries, heard.current, agent, channel)) announce(words);
    heard.current = transcript.entries.at(-1)?.seq ?? heard.current;
  }, [version]);
  const waited = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    const waiting = decisions.cards.filter(({ section }) => section === "waiting");
    const known = waited.current;
    const isNew = ({ id: of }: { readonly id: string }): boolean => known?.has(of) === false;
    for (const words of waitingWords(waiting.filter(isNew), decisions.questions.filter(isNew)))
      announce(words);
    waited.current = new Set([...waiting, ...decisions.questions].map(({ id: of }) => of));
  }, [decisions]);
  useEffect(() => {
    host.ask("models", {}).then(
      ({ ids }) => setModels(ids),
      () => undefined,
    );
  }, [host]);

  const run = (act: () => Promise<unknown>): void => {
    setFailure(undefined);
    act().catch((error: unknown) => setFailure(failureOf(error).message));
  };
  const send = ({ key, draft: { text, attached } }: Sending): void => {
    host.ask("send", { id, text, attached: [...attached], key }).then(
      () => setSending((before) => before.filter((one) => one.key !== key)),
      (error: unknown) =>
        setSending((before) =>
          before.map((one) => (one.key === key ? { ...one, failure: failureOf(error).message } : one)),
        ),
    );
  };
  const begin = (written: Draft): void => {
    const next = { key: crypto.randomUUID(), draft: written };
    setSending((before) => [...before, next]);
    onDraft(noDraft);
    setShown(undefined);
    scroll.toEnd();
    send(next);
  };
  const goToWaiting = (): void => {
    setShown(undefined);
    requestAnimationFrame(() => {
      const waits = log.current?.querySelector<HTMLElement>(".card:has(> .actions > .primary), [data-waits]");
      waits?.scrollIntoView({ block: "center" });
      waits?.focus();
    });
  };
  const acts = useMemo(
    () => ({
      fork: (at: number) => run(async () => onOpen((await host.ask("fork", { id, at })).id)),
      pin: (entry: string, isPinned: boolean) =>
        run(async () => await host.ask("pin", { id, entry, pinned: isPinned })),
      why: (entry: string) => run(async () => await host.ask("why", { id, entry })),
      redact: (entry: string, text: string) =>
        run(async () => await host.ask("redact", { id, entry, text: text.slice(0, maxQuoted) })),
      showWhole: (seq: number) => run(async () => await host.ask("showWhole", { id, seq })),
      openPath: (path: string) => run(async () => await host.ask("openPath", { path })),
      openLink: (address: string) => run(async () => await host.ask("openLink", { address })),
      copy: (text: string) => run(async () => await host.ask("copy", { text })),
      showProcess: (of: string) => setShown(of === channel ? undefined : of),
    }),
    [host, id, channel],
  );
  const page = useMemo(() => cardPage(host, { makeCurrent: setCurrent, announce }), [host]);
  const headActs = {
    back: onClose,
    showContext: () => setContext(true),
    rename: (title: string) => run(async () => await host.ask("update", { id, title })),
    fork: () => run(async () => onOpen((await host.ask("fork", { id })).id)),
    compact: () => run(async () => await host.ask("compact", { id })),
    archive: (isArchived: boolean) => run(async () => await host.ask("update", { id, isArchived })),
    remove: () =>
      run(async () => {
        if ((await host.ask("remove", { id })).isRemoved) onClose();
      }),
    openInEditor: () => run(async () => await host.ask("openInEditor", { id })),
    goToWaiting,
    showProcess: acts.showProcess,
  };
  const moveTurn = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    const all = [...(log.current?.querySelectorAll<HTMLElement>(".turn") ?? [])];
    const at = all.findIndex((one) => one.contains(document.activeElement));
    const next = event.key === "ArrowUp" ? (at < 0 ? all.length : at) - 1 : at + 1;
    const turn = all[next];
    event.preventDefault();
    if (turn === undefined) return setFocus(focus + 1);
    turn.focus();
    turn.scrollIntoView({ block: "nearest" });
  };

  if (isContext)
    return (
      <ContextView
        host={host}
        id={id}
        process={isMain ? undefined : process}
        onClose={() => {
          setContext(false);
          setFocus(focus + 1);
        }}
      />
    );
  const shownProcess = processes.get(process);
  const isWorking = head.processes.some(isAtWork);
  const around = { cards, questions, processes, pinned, current };
  return (
    <main class="conversations conversation" onKeyDown={moveTurn}>
      <ConversationHead
        head={head}
        waiting={
          decisions.questions.length + decisions.cards.filter(({ section }) => section === "waiting").length
        }
        shown={process}
        acts={headActs}
      />
      <div
        ref={log}
        class={isMain ? "log" : "log of-process"}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        tabIndex={0}
        onScroll={scroll.onScroll}
      >
        {transcript.hasEarlier && (
          <p class="earlier">
            <button type="button" class="button" onClick={() => run(() => scroll.keeping(loadEarlier))}>
              Show earlier
            </button>
          </p>
        )}
        {!isMain && shownProcess !== undefined && (
          <div class="task-head">
            <p class="meta">{kindOf(shownProcess)}</p>
            {turns.length === 0 && <p class="typed">{whole(shownProcess.task ?? nameOf(shownProcess))}</p>}
          </div>
        )}
        {turns.length === 0 && isMain && sending.length === 0 && (
          <p class="muted none">
            Say what {line(agent, 80)} should do. Nothing in this folder changes before you approve it.
          </p>
        )}
        {turns.map((turn) => (
          <TurnView
            key={turn.key}
            turn={turn}
            agent={agent}
            host={host}
            acts={acts}
            page={page}
            {...around}
            nowMs={nowMs}
            around={aroundOf(turn, around)}
          />
        ))}
        {shownProcess?.state === "Running" && transcript.streams.size === 0 && (
          <p class="who">
            <Sign kind="working">Working</Sign>
          </p>
        )}
        {decisions.questions.map((question) =>
          placed.has(question.id) ? null : (
            <Asked key={question.id} host={host} question={question} announce={announce} />
          ),
        )}
        {sending.map((one) => (
          <section key={one.key} class="you" aria-label="You">
            <div class="bubble">
              <p class="typed">{whole(one.draft.text)}</p>
              {one.failure === undefined ? (
                <p class="muted small">Sending…</p>
              ) : (
                <>
                  <p class="bad-text small" role="alert">
                    Not sent: {block(one.failure, 1_000)}
                  </p>
                  <button
                    type="button"
                    class="button"
                    onClick={() => {
                      const { failure: _failure, ...again } = one;
                      setSending((before) => before.map((other) => (other === one ? again : other)));
                      send(again);
                    }}
                  >
                    Send again
                  </button>
                </>
              )}
            </div>
          </section>
        ))}
      </div>
      {failure !== undefined && (
        <div class="failure" role="alert">
          <Icon name="failed" />
          <p class="grow">{block(failure, 2_000)}</p>
          <button type="button" class="button plain" onClick={() => setFailure(undefined)}>
            Close
          </button>
        </div>
      )}
      <Announcer said={said} />
      <footer class="dock">
        {!scroll.isAtEnd && (
          <button type="button" class="button to-end" onClick={scroll.toEnd}>
            <Icon name="down" />
            Latest
          </button>
        )}
        {isMain ? (
          <Composer
            host={host}
            agent={head.agent}
            draft={draft}
            onDraft={onDraft}
            onSend={begin}
            onCommand={(name, text) =>
              run(async () => {
                const { message } = await host.ask("runCommand", { agent: head.agent, name, text });
                onDraft(noDraft);
                announce(message);
              })
            }
            sent={sent}
            isWorking={isWorking}
            onStop={() => run(async () => await host.ask("cancel", { id }))}
            models={models}
            model={head.model}
            onModel={(model) => run(async () => await host.ask("update", { id, model }))}
            focus={props.focus + focus}
          />
        ) : (
          <div class="row process-dock">
            <span class="grow muted">A branch or worker gets its task from the conversation.</span>
            {shownProcess !== undefined && isAtWork(shownProcess) && (
              <button
                type="button"
                class="button"
                onClick={() => run(async () => await host.ask("cancel", { id, process }))}
              >
                <Icon name="stop" />
                Stop
              </button>
            )}
            <button type="button" class="button primary" onClick={() => setShown(undefined)}>
              Back to the conversation
            </button>
          </div>
        )}
        <StatusLine head={head} onContext={() => setContext(true)} />
      </footer>
    </main>
  );
}
