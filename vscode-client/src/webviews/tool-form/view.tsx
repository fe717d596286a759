import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AgentName } from "../shared/agent-name.tsx";
import { failureOf, useAsked, usePush, useCommonState } from "../shared/hooks.ts";
import { isWithin } from "../shared/channel.ts";
import type { Host } from "../shared/host.ts";
import { Pending, WhileRunning } from "../shared/notice.tsx";
import type { PageProps } from "../shared/page.tsx";
import { pageLabel } from "../shared/label.ts";
import { block, line } from "../shared/text.ts";
import { Fields, JsonInput } from "./field.tsx";
import { fieldsOf, isObject, type Field } from "./fields.ts";
import { keptBounds, keptOf, type Kept } from "./kept.ts";
import type { Form, ToolFormContract } from "./messages.ts";
import { OutcomePage, type RunState } from "./outcome.tsx";
import { argumentsOf, draftOf, parseJson, type Draft, type Problems } from "./values.ts";

/** The form for a tool's arguments, and the result of running it. */
export function ToolFormView({ host, editor }: PageProps<ToolFormContract>): VNode {
  const commonState = useCommonState(host);
  return (
    <WhileRunning host={host} commonState={commonState}>
      <Loaded host={host} editor={editor} />
    </WhileRunning>
  );
}

function Loaded({ host, editor }: PageProps<ToolFormContract>): VNode {
  const { asked, again } = useAsked(host, "form", {});
  // An agent may become known shortly after the kernel runs.
  usePush(host, "commonState", () => {
    if (asked.kind === "failed") again();
  });
  if (asked.kind !== "ready") return <Pending asked={asked} again={again} />;
  return <ToolForm host={host} editor={editor} form={asked.value} />;
}

interface FormProps extends PageProps<ToolFormContract> {
  readonly form: Form;
}

/**
 * Puts the focus on the first field of a form that was just opened, or on its button. Not for a form that is restored
 * while the person is elsewhere.
 */
function fillIn(form: HTMLFormElement | null): void {
  if (!document.hasFocus()) return;
  form?.querySelector<HTMLElement>("input, textarea, select, button[type=submit]")?.focus();
}

/** What was typed: as a form, or as JSON. */
interface Typed {
  readonly json: string | undefined;
  readonly draft: Record<string, Draft>;
}

/**
 * Returns what was typed before the page was recreated; undefined if it was for another tool, or if nothing was typed.
 */
function typedOf(
  { agent, name }: Form,
  fields: readonly Field[] | undefined,
  value: unknown,
): Typed | undefined {
  const kept = keptOf(value);
  if (kept?.draft === undefined || kept.agent !== agent || kept.name !== name) return undefined;
  const { json, draft } = kept;
  // Without a form there is only JSON.
  return json === undefined && fields === undefined ? undefined : { json, draft };
}

const noProblems: Problems = new Map();

function ToolForm({ host, editor, form }: FormProps): VNode {
  const fields = useMemo(() => fieldsOf(form.parameters), [form.parameters]);
  const [{ json, draft }, setTyped] = useState<Typed>(
    () =>
      typedOf(form, fields, editor.kept) ?? {
        json: fields === undefined ? JSON.stringify(form.last ?? {}, null, 2) : undefined,
        draft: fields === undefined ? {} : draftOf(fields, form.last),
      },
  );
  const { agent, name } = form;
  useEffect(() => {
    const typed: Kept = { agent, name, draft, ...(json !== undefined && { json }) };
    editor.keep(isWithin(typed, keptBounds) ? typed : { agent, name });
  }, [editor, agent, name, json, draft]);
  const [problems, setProblems] = useState<Problems>(noProblems);
  const { outcome, run } = useRun(host);

  const read = (): { readonly value: unknown } | undefined => {
    if (json === undefined) {
      const read = argumentsOf(fields ?? [], draft);
      setProblems(read.ok ? noProblems : read.problems);
      return read.ok ? { value: read.value } : undefined;
    }
    const parsed = parseJson(json);
    setProblems("problem" in parsed ? new Map([["", parsed.problem]]) : noProblems);
    return "value" in parsed ? parsed : undefined;
  };
  const submit = (): void => {
    const given = read();
    if (given !== undefined && outcome !== "busy") run(given.value);
  };
  const asJson = (): void => {
    const { value = {} } = read() ?? {};
    setProblems(noProblems);
    setTyped({ json: JSON.stringify(value, null, 2), draft });
  };
  const asForm = (): void => {
    const given = read();
    if (given !== undefined && fields !== undefined && isObject(given.value))
      setTyped({ json: undefined, draft: draftOf(fields, given.value) });
  };

  return (
    <main
      class="tool"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        submit();
      }}
    >
      <header>
        <h1>
          <bdi>{pageLabel(form.name, 120)}</bdi>
        </h1>
        <p class="quiet">
          a tool of <AgentName id={form.agent} />
        </p>
        {form.description !== "" && (
          <p class="description">
            <bdi>{block(form.description, 4_000)}</bdi>
          </p>
        )}
      </header>
      <form
        ref={fillIn}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {json === undefined ? (
          <>
            {fields?.length === 0 && <p class="quiet">It takes no arguments.</p>}
            <Fields
              fields={fields ?? []}
              draft={draft}
              path=""
              problems={problems}
              onChange={(draft) => setTyped({ json, draft })}
            />
          </>
        ) : (
          <div class="field">
            <label for="arguments">Arguments (JSON)</label>
            <JsonInput
              labels={{ id: "arguments", "aria-invalid": problems.has("") }}
              text={json}
              onChange={(json) => setTyped({ json, draft })}
            />
            {problems.has("") && (
              <p class="problem" role="alert">
                {line(problems.get("") ?? "", 300)}
              </p>
            )}
          </div>
        )}
        <div class="run">
          <button type="submit" class="primary" disabled={outcome === "busy"}>
            {outcome === "busy" ? "Running…" : "Run"}
          </button>
          <span class="quiet">{isMac ? "⌘" : "Ctrl+"}Enter</span>
          <span class="grow" />
          {fields !== undefined && (
            <button type="button" class="link" onClick={json === undefined ? asJson : asForm}>
              {json === undefined ? "Edit as JSON" : "Edit as a form"}
            </button>
          )}
        </div>
      </form>
      <OutcomePage host={host} outcome={outcome} />
    </main>
  );
}

const isMac = navigator.userAgent.includes("Macintosh");

function useRun(host: Host<ToolFormContract>): {
  readonly outcome: RunState;
  readonly run: (value: unknown) => void;
} {
  const [outcome, setOutcome] = useState<RunState>("none");
  const round = useRef(0);
  const run = (value: unknown): void => {
    const mine = ++round.current;
    setOutcome("busy");
    host.ask("run", { arguments: value }).then(
      (outcome) => {
        if (mine === round.current) setOutcome(outcome);
      },
      (error: unknown) => {
        if (mine === round.current) setOutcome({ refused: failureOf(error).message });
      },
    );
  };
  return { outcome, run };
}
