import { isoTime } from "../base/clock.ts";
import type { Peer, Sent } from "./peer.ts";
import { bounds, type ConformancePorts, type Subject, type SubjectHook, type SubjectTool } from "./ports.ts";
import type { Abilities } from "./scenario.ts";

/** A function of the guest that the kernel may call. */
export interface Entry {
  readonly kind: "hook" | "tool" | "action" | "job";
  readonly name: string;
  /** Calls it. The id is the event's, the call's or the job's. */
  send(peer: Peer, id: string): Sent;
}

/** Returns the hooks that are events, not questions. */
export function eventHooks({ manifest }: Subject): readonly SubjectHook[] {
  return (manifest?.hooks ?? []).filter(({ isQuestion }) => !isQuestion).slice(0, bounds.maxTried);
}

/** Returns the hook as an entry; with `callId`, as a question. */
export function hookEntry({ handler, event }: SubjectHook, ports: ConformancePorts, callId?: string): Entry {
  return {
    kind: "hook",
    name: handler,
    send: (peer, id) =>
      peer.send("hook", {
        handler,
        event: { ...event, id, timestamp: isoTime(ports.clock.now()) },
        ...(callId === undefined ? {} : { call_id: callId }),
      }),
  };
}

/** Returns the tool as an entry; null if there are no arguments to call it with. */
function toolEntry({ name, handler, arguments: args }: SubjectTool): Entry | null {
  if (args === null) return null;
  return {
    kind: "tool",
    name,
    send: (peer, id) => peer.send("tool", { name: handler, arguments: args, call_id: id, caller: "user" }),
  };
}

/** Returns the named action as an entry; null if there are no parameters to call it with. */
function actionEntry({ name, handler, arguments: values }: SubjectTool): Entry | null {
  if (values === null) return null;
  return {
    kind: "action",
    name,
    send: (peer, id) =>
      peer.send("action", { name: handler, parameters: values, call_id: id, caller: "user" }),
  };
}

/** `input`: what the guest dispatched this job with, if it did; `checkpoint`: what it saved. */
export function jobEntry(name: string, input: unknown = {}, checkpoint?: unknown): Entry {
  return {
    kind: "job",
    name,
    send: (peer, id) =>
      peer.send("job", { id, name, input, ...(checkpoint === undefined ? {} : { checkpoint }) }),
  };
}

/** Returns the functions of the guest that can be called. */
export function entriesOf(subject: Subject, abilities: Abilities, ports: ConformancePorts): readonly Entry[] {
  return [
    ...eventHooks(subject).map((hook) => hookEntry(hook, ports)),
    ...toolEntries(subject),
    ...actionEntries(subject),
    ...abilities.jobs.slice(0, bounds.maxTried).map((name) => jobEntry(name)),
  ];
}

export function actionEntries({ manifest }: Subject): readonly Entry[] {
  return (manifest?.actions ?? [])
    .map(actionEntry)
    .filter((entry) => entry !== null)
    .slice(0, bounds.maxTried);
}

export function toolEntries({ manifest }: Subject): readonly Entry[] {
  return (manifest?.tools ?? [])
    .map(toolEntry)
    .filter((entry) => entry !== null)
    .slice(0, bounds.maxTried);
}
