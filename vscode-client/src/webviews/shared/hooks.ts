import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Contract, Params, Push, PushName, RequestName, Result } from "./channel.ts";
import { AskFailed, type Host } from "./host.ts";
import type {
  commonPushes,
  commonRequests,
  focusPushes,
  focusRequests,
  Nothing,
  Situation,
} from "./situation.ts";

/** What was asked for: on its way, there, or refused. While it is asked again, what was there stays. */
export type Asked<Value> =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly value: Value; readonly stale: boolean }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined };

/**
 * Asks the extension, again whenever what is asked changes or `again` is called; an answer to an older question is
 * dropped. `params` null: nothing is asked.
 */
export function useAsked<C extends Contract, Name extends RequestName<C>>(
  host: Host<C>,
  name: Name,
  params: Params<C, Name> | null,
): { readonly asked: Asked<Result<C, Name>>; readonly again: () => void } {
  const [asked, setAsked] = useState<Asked<Result<C, Name>>>({ kind: "loading" });
  const [round, setRound] = useState(0);
  const key = JSON.stringify(params);
  const answered = useRef("");
  useEffect(() => {
    if (params === null) return;
    let current = true;
    // A new round of the same question keeps what is shown; another question shows that it is on its way.
    const same = answered.current === key;
    setAsked((before) =>
      before.kind === "ready" ? { ...before, stale: true } : same ? before : { kind: "loading" },
    );
    host.ask(name, params).then(
      (value) => {
        if (!current) return;
        answered.current = key;
        setAsked({ kind: "ready", value, stale: false });
      },
      (error: unknown) => {
        if (current) setAsked({ kind: "failed", ...failureOf(error) });
      },
    );
    return () => {
      current = false;
    };
  }, [host, name, key, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { asked, again };
}

export function failureOf(error: unknown): { readonly message: string; readonly code: string | undefined } {
  if (error instanceof AskFailed) return { message: error.message, code: error.code };
  throw error;
}

export function usePush<C extends Contract, Name extends PushName<C>>(
  host: Host<C>,
  name: Name,
  listener: (params: Push<C, Name>) => void,
): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => host.on(name, (params) => latest.current(params)), [host, name]);
}

interface ChangingContract extends Contract {
  readonly pushes: { readonly changed: typeof Nothing };
}

/**
 * Asks again when the extension says that what is shown is another now; not before the last answer is there, so that
 * answers that take longer than changes still come. Returns whether one is on its way.
 */
export function useChanged(host: Host<ChangingContract>, asked: Asked<unknown>, again: () => void): boolean {
  const busy = asked.kind === "loading" || (asked.kind === "ready" && asked.stale);
  const due = useRef(false);
  usePush(host, "changed", () => {
    if (busy) due.current = true;
    else again();
  });
  useEffect(() => {
    if (busy || !due.current) return;
    due.current = false;
    again();
  }, [busy, again]);
  return busy;
}

interface CommonContract extends Contract {
  readonly requests: typeof commonRequests;
  readonly pushes: typeof commonPushes;
}

/** How the kernel is and which agents there are; undefined until the extension said so. */
export function useSituation(host: Host<CommonContract>): Situation | undefined {
  const [situation, setSituation] = useState<Situation>();
  usePush(host, "situation", setSituation);
  useEffect(() => {
    // What is pushed meanwhile is as new; a refusal means the extension is going away with the page.
    host.ask("situation", {}).then(setSituation, () => undefined);
  }, [host]);
  return situation;
}

interface FocusContract extends Contract {
  readonly requests: typeof focusRequests;
  readonly pushes: typeof focusPushes;
}

/** Hears which agent the editor was asked to show here, now and whenever it is asked again. */
export function useFocus(host: Host<FocusContract>, focused: (agent: string) => void): void {
  const look = (): void => {
    // A refusal means the extension is going away with the page.
    host.ask("focus", {}).then(
      ({ agent }) => agent !== undefined && focused(agent),
      () => undefined,
    );
  };
  usePush(host, "focus", look);
  useEffect(look, [host]);
}

/** The time now, again and again while the page is seen, for "2 minutes ago". */
export function useNow(everyMs = 30_000): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

/** The value, once it has been the same for a while: not every key pressed is a question. */
export function useSettled<Value>(value: Value, afterMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
