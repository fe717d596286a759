import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Contract, Params, Push, PushName, RequestName, Result } from "./channel.ts";
import { AskFailed, type Host } from "./host.ts";
import type {
  commonPushes,
  commonRequests,
  focusPushes,
  focusRequests,
  Nothing,
  CommonState,
} from "./common-state.ts";

/** The result of a request: loading, ready, or failed. During a repeated request, the old result stays. */
export type Asked<Value> =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly value: Value; readonly stale: boolean }
  | { readonly kind: "failed"; readonly message: string; readonly code: string | undefined };

/**
 * Sends a request to the extension, again whenever its parameters change or `again` is called; answers to older
 * requests are dropped. No request is sent while `params` is null.
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
    // Repeating the same request keeps the old result on the screen; a different request shows that it is loading.
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
 * Repeats the request when the extension reports a change, but not before the last answer has arrived, so that answers
 * that take longer than the interval between changes still arrive. Returns true while a request is open.
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

/** Returns the state of the kernel and the agents; undefined until the extension has sent it. */
export function useCommonState(host: Host<CommonContract>): CommonState | undefined {
  const [commonState, setCommonState] = useState<CommonState>();
  usePush(host, "commonState", setCommonState);
  useEffect(() => {
    // A pushed state is at least as new as the answer; an error means that the extension is shutting down together
    // with the page.
    host.ask("commonState", {}).then(setCommonState, () => undefined);
  }, [host]);
  return commonState;
}

interface FocusContract extends Contract {
  readonly requests: typeof focusRequests;
  readonly pushes: typeof focusPushes;
}

/** Calls `focused` with the agent that this view was asked to show, now and on each later request. */
export function useFocus(host: Host<FocusContract>, focused: (agent: string) => void): void {
  const look = (): void => {
    // An error means that the extension is shutting down together with the page.
    host.ask("focus", {}).then(
      ({ agent }) => agent !== undefined && focused(agent),
      () => undefined,
    );
  };
  usePush(host, "focus", look);
  useEffect(look, [host]);
}

/** Returns the current time, updated while the page is visible, for "2 minutes ago". */
export function useNow(everyMs = 30_000): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

/** Debounces a value, so that not every key press sends a request. */
export function useSettled<Value>(value: Value, afterMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

/** What is this close to the window is loaded. */
const nearPixels = 400;

/** Returns true once the element has been near the window. */
export function useNear(element: { readonly current: HTMLElement | null }): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const { current } = element;
    if (current === null || isNear) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: `${nearPixels}px` },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [isNear]);
  return isNear;
}
