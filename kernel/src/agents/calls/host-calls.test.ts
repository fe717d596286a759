import { expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import { HostCalls } from "./host-calls.ts";
import { OpenCalls } from "./open-calls.ts";
import type { AgentDefinition } from "../ports.ts";

const authority = (...locations: string[]): Authority => ({
  extension: "dev.test.agent",
  requested: {},
  effective: { read_entries: true },
  denied: [],
  locations,
  protectedPaths: [],
  forbiddenPaths: [],
  memory: false,
  namespaces: {},
});

/** A guest's door, to one service that answers where its caller may read, once `proceed` was called. */
function doorTo(first: Authority) {
  let now = first;
  const gate = Promise.withResolvers<void>();
  const service = async (caller: { readonly authority: Authority }) => {
    await gate.promise;
    return caller.authority.locations;
  };
  const calls = new HostCalls({
    ports: {
      readHostCall: (_method, params) => ({ params, answer: service }),
      authorityOf: () => null,
      takeTurn: async () => undefined,
    },
    definition: () =>
      ({ id: "dev.test.agent", authority: now, programDigest: "sha256:0" }) as unknown as AgentDefinition,
    inHand: () => ({}),
    open: new OpenCalls(),
    guest: () => null,
    clock: new ManualClock(),
    metrics: { refused: () => undefined },
    trace: () => undefined,
  });
  return { calls, proceed: () => gate.resolve(), grant: (next: Authority) => (now = next) };
}

test.each(["vdfs/query", "actions/settled"])(
  "an answer of %s that comes after a folder was taken away is made without that folder",
  async (method) => {
    const { calls, proceed, grant } = doorTo(authority("notes", "private"));
    const answer = calls.call(method, { id: "1" });
    grant(authority("notes"));
    proceed();
    expect(await answer).toEqual(["notes"]);
    calls[Symbol.dispose]();
  },
);

test("a query whose permission was taken away meanwhile is refused instead of answered", async () => {
  const { calls, proceed, grant } = doorTo(authority("notes"));
  const answer = calls.call("vdfs/query", {}).catch((error: unknown) => error);
  grant({ ...authority("notes"), effective: {} });
  proceed();
  expect(isLaresError(await answer, "PermissionDenied")).toBe(true);
  calls[Symbol.dispose]();
});
