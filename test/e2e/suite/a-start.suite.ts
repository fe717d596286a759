import assert from "node:assert/strict";
import { before, describe, it } from "mocha";
import { until } from "../../support/until.ts";
import { type LaresApi, openLares } from "./lares.ts";

describe("the extension starts", () => {
  let lares: LaresApi;
  before(async () => {
    lares = await openLares();
  });

  it("by itself, in a folder that has a lares.yaml, quickly", () => {
    assert.ok(lares.activationMs < 1000, `${lares.activationMs} ms`);
  });

  it("and shows the agents of the workspace", async () => {
    const agent = await until("the agent", () => lares.models.agents.get("com.example.titles"));
    assert.equal(agent.name, "Titles");
    assert.deepEqual(agent.tools, ["shout", "propose", "chatter"]);
  });

  it("and its kernel runs the agents' tools", async () => {
    const result = await lares.kernel.request("lares/tools/call", {
      agent: "com.example.titles",
      name: "shout",
      arguments: { word: "hello", times: 2 },
    });
    assert.deepEqual(result, { status: "success", value: "HELLO! HELLO!" });
  });
});
