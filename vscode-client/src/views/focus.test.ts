import { expect, it } from "vitest";
import { Focus } from "./focus.ts";

it("tells a page that is there to take whom it shows, and one that is not yet finds it; each is taken once", () => {
  let told = 0;
  const focus = new Focus(() => told++);
  expect(focus.take()).toEqual({});
  focus.set("storage");
  focus.set("photos");
  expect(told).toBe(2);
  expect(focus.take()).toEqual({ agent: "photos" });
  expect(focus.take()).toEqual({});
});
