import { expect, test } from "vitest";
import { Spoken } from "./spoken.ts";

function heard(tell: (spoken: Spoken) => void): string {
  let text = "";
  tell(new Spoken((piece) => (text += piece)));
  return text;
}

test.each([
  ["nothing was told", () => undefined, ""],
  [
    "an answer broke off",
    (spoken: Spoken) => spoken.add("m", "Beginning of an ans"),
    "Beginning of an ans\n",
  ],
  ["it broke off at the end of a line", (spoken: Spoken) => spoken.add("m", "one\n"), "one\n"],
  [
    "an answer ended",
    (spoken: Spoken) => {
      spoken.add("m", "whole");
      spoken.end();
    },
    "whole\n",
  ],
])("where %s, what follows begins on its own line", (_what, tell, expected) => {
  const text = heard((spoken) => {
    tell(spoken);
    spoken.endLine();
    spoken.endLine();
  });
  expect(text).toBe(expected);
});

test("a character that arrives in two halves is told once it is whole", () => {
  const [first = "", second = ""] = "😀".split("");
  const text = heard((spoken) => {
    spoken.add("m", `a${first}`);
    spoken.add("m", second);
    expect(spoken.of("m")).toBe("a😀");
  });
  expect(text).toBe("a😀");
});
