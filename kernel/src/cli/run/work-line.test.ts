import { expect, test } from "vitest";
import { WorkLine } from "./work-line.ts";

test("shows the newest work with its progress and the number of others, and nothing when all work has ended", () => {
  const line = new WorkLine();
  expect(line.text).toBeNull();
  line.update({ token: "a", value: { kind: "begin", title: "Lares: count (a.b)" } });
  expect(line.text).toBe("count (a.b)");
  line.update({ token: "a", value: { kind: "report", percentage: 40, message: "file 4" } });
  expect(line.text).toBe("count (a.b): 40 %, file 4");
  line.update({ token: "b", value: { kind: "begin", title: "Lares: sort (c.d)" } });
  line.update({ token: "b", value: { kind: "report", percentage: 5, message: "5 %" } });
  expect(line.text).toBe("sort (c.d): 5 %, and 1 more");
  line.update({ token: "b", value: { kind: "end" } });
  line.update({ token: "unknown", value: { kind: "report", percentage: 5 } });
  expect(line.text).toBe("count (a.b): 40 %, file 4");
  line.update({ token: "a", value: { kind: "end", message: "done" } });
  expect(line.text).toBeNull();
});
