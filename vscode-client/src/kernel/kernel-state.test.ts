import { expect, it } from "vitest";
import type { Status } from "../protocol.ts";
import { status } from "../testing/things.ts";
import type { ConnectionState } from "./connection.ts";
import { kernelStateOf } from "./kernel-state.ts";
import type { KernelState } from "./kernel.ts";

const up: ConnectionState = { kind: "up" };
const restarting = { kind: "restarting", inMs: 1000, reason: "it ended" } as const;
const failed = { kind: "failed", reason: "there is none" } as const;

const silent = { kind: "silent", reason: "It has not answered." } as const;

it.each<[string, ConnectionState, Status | undefined, boolean, KernelState, string?]>([
  ["it does not answer any more", up, undefined, true, silent, silent.reason],
  ["it does not answer, trusted or not", up, undefined, false, silent, silent.reason],
  ["it did not answer, and ended", restarting, undefined, true, restarting, silent.reason],
  ["its process starts", { kind: "starting" }, undefined, true, { kind: "starting" }],
  ["it has not answered yet", up, undefined, true, { kind: "starting" }],
  ["it answers and agents run", up, status(), true, { kind: "running" }],
  [
    "its documents wait for an approval",
    up,
    status({ trusted: false }),
    true,
    { kind: "untrusted", by: "documents" },
  ],
  [
    "the editor does not trust the folder",
    up,
    status({ trusted: false }),
    false,
    { kind: "untrusted", by: "editor" },
  ],
  [
    "the editor does not trust the folder, before the first answer",
    up,
    undefined,
    false,
    { kind: "untrusted", by: "editor" },
  ],
  ["its process ended and is started again", restarting, status(), true, restarting],
  ["it could not be kept running", failed, status(), true, failed],
])("the state where %s", (_name, connection, status, isTrusted, state, silence) => {
  expect(kernelStateOf(connection, status, isTrusted, silence ?? null)).toEqual(state);
});
