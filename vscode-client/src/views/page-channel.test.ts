import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { PageChannel, type Answers } from "./page-channel.ts";
import type { Told } from "../webviews/shared/channel.ts";
import { connect } from "../webviews/shared/host.ts";

const contract = {
  requests: {
    double: { params: v.object({ of: v.number() }), result: v.number() },
    name: { params: v.object({}), result: v.pipe(v.string(), v.maxLength(5)) },
  },
  pushes: { changed: v.object({ to: v.number() }) },
};

/** Both ends on one wire, as the editor puts them; `send` says something else than an end would. */
function wired(answers: Partial<Answers<typeof contract>> = {}) {
  let toView: (message: unknown) => void = () => undefined;
  let toExtension: (message: unknown) => void = () => undefined;
  const told: Told[] = [];
  const channel = new PageChannel(
    {
      postMessage: async (message) => {
        told.push(message);
        toView(structuredClone(message));
        return true;
      },
      onDidReceiveMessage: (listener) => {
        toExtension = listener;
        return {
          dispose: () => {
            toExtension = () => undefined;
          },
        };
      },
    },
    contract,
    { double: async ({ of }) => of * 2, name: async () => "Lares", ...answers },
  );
  const host = connect(contract, {
    postMessage: (message) => toExtension(structuredClone(message)),
    onMessage: (listener) => {
      toView = listener;
    },
  });
  return {
    host,
    channel,
    told,
    sendToView: (m: unknown) => toView(m),
    sendToExtension: (m: unknown) => toExtension(m),
  };
}

describe("a view and the extension", () => {
  it("ask and answer", async () => {
    const { host } = wired();
    await expect(Promise.all([host.ask("double", { of: 2 }), host.ask("name", {})])).resolves.toEqual([
      4,
      "Lares",
    ]);
  });

  it("pass on a kernel's refusal with its sentence and its name", async () => {
    const refusal = Object.assign(new Error("There is no such agent."), { data: { code: "NotFound" } });
    const { host } = wired({ double: () => Promise.reject(refusal) });
    await expect(host.ask("double", { of: 2 })).rejects.toMatchObject({
      message: "There is no such agent.",
      code: "NotFound",
    });
  });

  it("reject an answer of another shape", async () => {
    const { host } = wired({ name: async () => "a name that is too long" });
    await expect(host.ask("name", {})).rejects.toThrow("too large");
  });

  it("ignore requests outside the contract, including inherited members of objects", () => {
    const { told, sendToExtension } = wired();
    for (const ask of ["constructor", "__proto__", "delete"]) sendToExtension({ id: 1, ask, params: {} });
    sendToExtension({ id: 2, ask: "double", params: { of: "2" } });
    sendToExtension("double");
    expect(told).toHaveLength(4);
    expect(told.every((message) => "failure" in message)).toBe(true);
  });

  it("receive pushes of the right shape until the listener is removed", () => {
    const { host, channel, sendToView } = wired();
    const heard: number[] = [];
    const stop = host.on("changed", ({ to }) => heard.push(to));
    channel.push("changed", { to: 1 });
    sendToView({ push: "changed", params: { to: "2" } });
    sendToView({ push: "toString", params: {} });
    stop();
    channel.push("changed", { to: 3 });
    expect(heard).toEqual([1]);
  });

  it("send nothing after the channel has ended", () => {
    const { told, channel, sendToExtension } = wired();
    channel.dispose();
    sendToExtension({ id: 1, ask: "name", params: {} });
    expect(told).toEqual([]);
  });
});
