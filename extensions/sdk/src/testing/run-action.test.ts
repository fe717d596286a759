import { expect, test } from "vitest";
import { defineAgent } from "../index.ts";
import { mockContext, runAction } from "./index.ts";

const agent = defineAgent({
  actions: {
    async createAlbum({ name, photos = [] }, ctx) {
      await ctx.progress(0.5);
      return {
        effects: [
          { kind: "folder.create", path: `albums/${name}` },
          ...photos.map((from: string) => ({ kind: "file.move", from, to: `albums/${name}/${from}` })),
        ],
        title: `Create album ${name}`,
        reason: "You asked for it.",
      };
    },
    nothing: () => ({ effects: [], reason: "There is nothing to do." }),
    wrong: () => ({ effects: [{ kind: "file.burn", path: "x" }], reason: "No." }) as never,
  },
});
const permissions = { propose_actions: ["folder.create"] };

test("an action's handler is run, and its effects are proposed as the kernel would", async () => {
  const ctx = mockContext({ permissions });
  const action = await runAction(agent, "createAlbum", { name: "Summer" }, ctx);
  expect(action).toMatchObject({
    title: "Create album Summer",
    state: "PendingApproval",
    effects: [{ kind: "folder.create", path: "albums/Summer" }],
  });
  expect(ctx.recorded.actions).toEqual([action]);
  expect(await runAction(agent, "nothing", {}, ctx)).toBeNull();
});

test("effects that the permissions do not cover, or that are none, and a missing handler are refused", async () => {
  const ctx = mockContext({ permissions, entries: [{ path: "a.jpg" }] });
  await expect(
    runAction(agent, "createAlbum", { name: "Summer", photos: ["a.jpg"] }, ctx),
  ).rejects.toMatchObject({ code: "PermissionDenied" });
  await expect(runAction(agent, "wrong", {}, ctx)).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(runAction(agent, "create", {}, ctx)).rejects.toMatchObject({ code: "NotFound" });
  expect(ctx.recorded.actions).toEqual([]);
});
