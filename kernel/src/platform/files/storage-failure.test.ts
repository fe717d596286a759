import { expect, test } from "vitest";
import { notFound } from "../../base/errors.ts";
import { storageFailure } from "./storage-failure.ts";

const systemError = (code: string, errno: number): Error =>
  Object.assign(new Error(`${code}: words of the system, write`), { code, errno });

test.each([
  ["ENOSPC", -28, /no space is left.*Free some space/],
  ["EDQUOT", -122, /quota/],
  ["Unknown system error -122", -122, /quota.*EDQUOT/],
  ["EROFS", -30, /read-only.*writable/],
  ["EMFILE", -24, /too many files.*ulimit/],
  ["ENFILE", -23, /too many files/],
  ["EACCES", -13, /not permitted.*yours/],
  ["ENAMETOOLONG", -36, /name is too long.*shorter/],
  ["EIO", -5, /disk failed.*system's log/],
])("%s is a StorageError that says what was not done, why, and what to do", (code, errno, words) => {
  const failure = storageFailure('"a" was not written', systemError(code, errno));
  expect(failure.code).toBe("StorageError");
  expect(failure.message).toMatch(/^"a" was not written: /);
  expect(failure.message).toMatch(words);
});

test("a call's paths beneath a descriptor are not shown", () => {
  const call = "/proc/self/fd/28/.lares-1' -> '/proc/self/fd/29/a";
  const error = Object.assign(new Error(`EXDEV: cross-device link, link '${call}'`), {
    code: "EXDEV",
    syscall: "link",
  });
  expect(storageFailure('"a" was not written', error).message).toBe(
    '"a" was not written: EXDEV: cross-device link.',
  );
});

test("any other failure has the system's own message; an error of the catalogue stays unchanged", () => {
  expect(storageFailure("It was not read", systemError("EISDIR", -21)).message).toBe(
    "It was not read: EISDIR: words of the system, write.",
  );
  expect(storageFailure("It was not read", notFound("file", "a"))).toMatchObject({ code: "NotFound" });
});
