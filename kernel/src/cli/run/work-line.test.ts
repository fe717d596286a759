import { expect, test } from "vitest";
import { WorkLine } from "./work-line.ts";

test("says the newest work with how far it is, how much more there is, and nothing when all is over", () => {
  const line = new WorkLine();
  expect(line.text).toBeNull();
  line.hear({ token: "a", value: { kind: "begin", title: "Lares: count (a.b)" } });
  expect(line.text).toBe("count (a.b)");
  line.hear({ token: "a", value: { kind: "report", percentage: 40, message: "file 4" } });
  expect(line.text).toBe("count (a.b): 40 %, file 4");
  line.hear({ token: "b", value: { kind: "begin", title: "Lares: sort (c.d)" } });
  line.hear({ token: "b", value: { kind: "report", percentage: 5, message: "5 %" } });
  expect(line.text).toBe("sort (c.d): 5 %, and 1 more");
  line.hear({ token: "b", value: { kind: "end" } });
  line.hear({ token: "unknown", value: { kind: "report", percentage: 5 } });
  expect(line.text).toBe("count (a.b): 40 %, file 4");
  line.hear({ token: "a", value: { kind: "end", message: "done" } });
  expect(line.text).toBeNull();
});
