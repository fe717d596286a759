import { expect, it } from "vitest";
import { Succession } from "./succession.ts";

it("the next one begins when the previous one has ended", async () => {
  const events: string[] = [];
  const succession = new Succession(() => events.push("begun"));
  const end = Promise.withResolvers<void>();
  const renewed = succession.renew(end.promise.then(() => void events.push("ended")));
  end.resolve();
  await renewed;
  expect(events).toEqual(["ended", "begun"]);
});

it("a second request while the first waits shares the same start", async () => {
  let begun = 0;
  const succession = new Succession(() => begun++);
  const end = Promise.withResolvers<void>();
  const first = succession.renew(end.promise);
  const second = succession.renew(Promise.resolve());
  await Promise.resolve();
  expect(begun).toBe(0);
  end.resolve();
  await Promise.all([first, second]);
  expect(begun).toBe(1);
});
