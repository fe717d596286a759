import { expect, test } from "vitest";
import { commandOf } from "./keys.ts";

const plain = { ctrlKey: false, altKey: false, metaKey: false };

test("letters decide in the list and on a button, and are letters in a text field", () => {
  expect(commandOf({ ...plain, key: "a" }, "list")).toBe("approve");
  expect(commandOf({ ...plain, key: "a" }, "control")).toBe("approve");
  expect(commandOf({ ...plain, key: "a" }, "text")).toBeUndefined();
  expect(commandOf({ ...plain, key: "Escape" }, "text")).toBe("close");
});

test("Enter and Space press a button that has the focus and nothing else", () => {
  for (const key of ["Enter", " "]) expect(commandOf({ ...plain, key }, "control")).toBeUndefined();
  expect(commandOf({ ...plain, key: "Enter" }, "list")).toBe("show");
});

test("a key with a modifier is the editor's", () => {
  for (const modifier of ["ctrlKey", "altKey", "metaKey"])
    expect(commandOf({ ...plain, key: "a", [modifier]: true }, "list")).toBeUndefined();
});

test("a key that is named like an inherited property is not a command", () => {
  expect(commandOf({ ...plain, key: "constructor" }, "list")).toBeUndefined();
});

test("in an open panel no key but Escape is the page's", () => {
  for (const key of ["a", "r", "e", "u", "A", "Enter", " ", "ArrowDown"])
    expect(commandOf({ ...plain, key }, "panel")).toBeUndefined();
  expect(commandOf({ ...plain, key: "Escape" }, "panel")).toBe("close");
});
