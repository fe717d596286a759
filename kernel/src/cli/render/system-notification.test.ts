import { expect, test } from "vitest";
import { systemNotification } from "./system-notification.ts";

test("a notification is one code, and nothing that an agent writes ends it early", () => {
  const text = systemNotification("4;100 \u0007\u001b\\\u009c\u001b]0;title\u0007\n done");
  expect(text.startsWith("\u001b]9;Lares: ")).toBe(true);
  expect(text.endsWith("\u0007")).toBe(true);
  // oxlint-disable-next-line no-control-regex -- that is what must not be in it
  expect(text.slice(4, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

test("a long notification is cut", () => {
  expect(systemNotification("x".repeat(10_000)).length).toBeLessThan(230);
});
