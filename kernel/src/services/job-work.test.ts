import { expect, test } from "vitest";
import { workOfJob } from "./job-work.ts";

const who = { id: "1", agent: "a.b" };

test("a stranger's name and message are one bounded line each, without links, icons and hidden characters", () => {
  const words = "[ok](command:x) $(alert)\n\u202eno\u001b[2J";
  const plain = "[ok] (command:x) $ (alert) <U+202E>no\u241b[2J";
  expect(workOfJob({ ...who, kind: "begin", name: words })).toMatchObject({ title: `Lares: ${plain} (a.b)` });
  expect(workOfJob({ ...who, kind: "report", fraction: 0.5, message: words })).toMatchObject({
    message: plain,
  });
  const told = workOfJob({ ...who, kind: "report", fraction: 1, message: "\u{1f600}".repeat(1000) });
  const message = told.kind === "report" ? told.message : "";
  expect(message.length).toBe(201);
  expect(message.isWellFormed()).toBe(true);
});

test("without a message the percentage is shown", () => {
  expect(workOfJob({ ...who, kind: "report", fraction: 0.999 })).toMatchObject({
    message: "99 %",
    percentage: 99,
  });
});
