import { expect, test } from "vitest";
import { agent, MindBench, person as me } from "./testing/mind-bench.ts";

test.each(["two\nlines", "\u001b[2J", "\u202egnp", "a\u200bb"])(
  "a title that would look wrong in a list is refused with a sentence: %j",
  async (title) => {
    const bench = await MindBench.open();
    const { id } = await bench.open();
    const refused = {
      code: "InvalidParams",
      message: expect.stringMatching(/line breaks|invisible/) as string,
    };
    await expect(bench.service.update(me, id, { title })).rejects.toMatchObject(refused);
    await expect(bench.service.open(me, { agent, title })).rejects.toMatchObject(refused);
    expect((await bench.service.get(id)).title).toBe("");
  },
);

test("any other title is taken, in every language", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  const title = "Grüße, 日本 👩‍👩‍👧 – “quoted”";
  expect((await bench.service.update(me, id, { title })).title).toBe(title);
});
