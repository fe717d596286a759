import { expect, it } from "vitest";
import { Focus } from "./focus.ts";

it("notifies an existing page, and keeps the agent for a page that does not exist yet; it is taken once", () => {
  let told = 0;
  const focus = new Focus(() => told++);
  expect(focus.take()).toEqual({});
  focus.set("storage");
  focus.set("photos");
  expect(told).toBe(2);
  expect(focus.take()).toEqual({ agent: "photos" });
  expect(focus.take()).toEqual({});
});
