import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  countOf,
  grantedChoice,
  grantsOf,
  keptChoice,
  wholeChoice,
  toggleWorkspace,
  type Choice,
} from "../../../../kernel/src/base/consent-choice.ts";
import { failureOf, useAsked, useChanged, useCommonState } from "../shared/hooks.ts";
import { Pending, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { CardView, PartRow } from "./card.tsx";
import type { ConsentContract, Question } from "./messages.ts";
import { Said } from "./said.tsx";

/** The page on which the person ticks what the agents of a workspace may do, with a card for each extension. */
export function ConsentView({ host, editor }: PageProps<ConsentContract>): VNode {
  const commonState = useCommonState(host);
  const isAnswerable =
    commonState?.kernel.kind === "running" ||
    (commonState?.kernel.kind === "untrusted" && commonState.kernel.by === "documents");
  if (!isAnswerable) return <WhileRunning host={host} commonState={commonState} />;
  return <Loaded host={host} editor={editor} />;
}

function Loaded({ host }: PageProps<ConsentContract>): VNode {
  const { asked, again } = useAsked(host, "question", {});
  useChanged(host, asked, again);
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  return <QuestionPage host={host} question={asked.value} again={again} />;
}

interface QuestionProps extends Pick<PageProps<ConsentContract>, "host"> {
  readonly question: Question;
  again(): void;
}

type Sending = "none" | "busy" | { readonly refused: string };

/**
 * Focus order: the cards from top to bottom, each with its box, what changed, its permissions and its folders; then the
 * footer. The first focus is on the first card that waits for an answer, never on a button that allows.
 */
export function QuestionPage({ host, question, again }: QuestionProps): VNode {
  const [choice, setChoice] = useState<Choice>(() => grantedChoice(question));
  const [sending, setSending] = useState<Sending>("none");
  const [isOther, setOther] = useState(false);
  const shown = useRef(question);
  useEffect(() => {
    const before = shown.current;
    shown.current = question;
    if (before.digest === question.digest) return;
    // The question has changed. Boxes that are new in it are not ticked.
    setChoice((ticked) => keptChoice(ticked, question));
    setOther(true);
  }, [question]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Only when the page has the focus, now or later: taking the focus would close what the person opened meanwhile,
    // such as the command palette.
    const focusFirst = (): void => {
      if (!document.hasFocus() || document.activeElement !== document.body) return;
      list.current?.querySelector<HTMLElement>("[data-waits] input, article input")?.focus();
    };
    focusFirst();
    window.addEventListener("focus", focusFirst);
    return () => window.removeEventListener("focus", focusFirst);
  }, []);

  const { extensions, workspace, folder, digest } = question;
  const waiting = extensions.filter(({ answered }) => !answered);
  const rest = extensions.filter(({ answered }) => answered);
  const count = countOf(choice, question);
  const hadAny = extensions.some(({ granted }) => granted);
  const isEmpty = count.extensions === 0 && choice.workspace.size === 0;
  const send = (): void => {
    setSending("busy");
    host.ask("answer", { digest, grants: grantsOf(choice) }).then(
      ({ accepted }) => {
        setSending("none");
        if (!accepted) {
          setOther(true);
          again();
        }
      },
      (error: unknown) => setSending({ refused: failureOf(error).message }),
    );
  };
  return (
    <main class="consent">
      <div class="cards" ref={list}>
        <header>
          <h1>
            What may the agents in <Said text={folder} quoted /> do?
          </h1>
          <p class="quiet lead">
            {question.answered
              ? "You can change what you allowed at any time."
              : "Nothing that is new runs until you choose."}{" "}
            An agent can do only what you tick. Every change to a file is shown to you first, unless you allow
            a rule.
          </p>
          {isOther && (
            <p class="banner" role="alert">
              What is asked for has changed while this page was open. Nothing new is ticked: look at it again.
            </p>
          )}
          {extensions.length + workspace.length > 1 && (
            <button
              type="button"
              class="link"
              onClick={() => setChoice(wholeChoice(question))}
              disabled={count.isAll}
            >
              Tick everything
            </button>
          )}
        </header>
        {extensions.length === 0 && workspace.length === 0 && (
          <p>The documents of this workspace ask for nothing.</p>
        )}
        {waiting.map((card) => (
          <CardView key={card.extension} host={host} card={card} choice={choice} onChoice={setChoice} open />
        ))}
        {workspace.length > 0 && (
          <article class="card" aria-label="This folder’s own document">
            <h2 class="name">This folder’s own document</h2>
            <p class="quiet small">lares.yaml asks for this beside its agents.</p>
            {workspace.map((part) => (
              <PartRow
                key={part.id}
                part={part}
                isMarked={question.since !== null}
                isOn={choice.workspace.has(part.id)}
                onToggle={() => setChoice(toggleWorkspace(choice, part.id))}
              />
            ))}
          </article>
        )}
        {rest.map((card) => (
          <CardView
            key={card.extension}
            host={host}
            card={card}
            choice={choice}
            onChoice={setChoice}
            open={false}
          />
        ))}
      </div>
      <footer>
        <p class="sum" role="status">
          <strong>
            {count.extensions} of {extensions.length} {extensions.length === 1 ? "agent" : "agents"}
          </strong>
          {count.isAll ? ", with all that is asked for" : ""}
          {sending !== "none" && sending !== "busy" && <span class="problem"> {sending.refused}</span>}
        </p>
        <button
          type="button"
          class="secondary"
          onClick={() => void host.ask("notNow", { digest }).catch(() => undefined)}
        >
          {question.answered ? "Close" : "Not Now"}
        </button>
        <button
          type="button"
          class="primary"
          disabled={sending === "busy" || (isEmpty && !hadAny)}
          onClick={send}
        >
          {isEmpty && hadAny ? "Take Back All" : "Allow Selected"}
        </button>
      </footer>
    </main>
  );
}
