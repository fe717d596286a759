import { isLaresError, type LaresError, messageOf, storageError } from "../../base/errors.ts";

interface Meaning {
  readonly says: string;
  readonly advice: string;
}

const fullQuota: Meaning = {
  says: "your disk quota is used up (EDQUOT)",
  advice: "Free some space or have the quota raised, then try again.",
};
const tooManyFiles: Meaning = {
  says: "too many files are open",
  advice: "Close other programs or raise the limit (ulimit -n), then try again.",
};
const notPermitted: Meaning = {
  says: "it is not permitted",
  advice: "Check that the folder and its files are yours and can be written.",
};

/** What a person can do about it, by error code. */
const meanings: Readonly<Record<string, Meaning>> = {
  ENOSPC: {
    says: "no space is left on the disk (ENOSPC)",
    advice: "Free some space, then try again.",
  },
  EDQUOT: fullQuota,
  EROFS: {
    says: "the file system is read-only (EROFS)",
    advice: "Mount it writable, then try again.",
  },
  EIO: {
    says: "the disk failed (EIO)",
    advice: "Look at the system's log: the disk or its connection may be broken. Then try again.",
  },
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  ENAMETOOLONG: {
    says: "the name is too long (ENAMETOOLONG)",
    advice: "Choose a shorter one, of at most 255 bytes.",
  },
  EACCES: notPermitted,
  EPERM: notPermitted,
};
/** EDQUOT on Linux and macOS, for which libuv has no name. */
const quotaNumbers: readonly unknown[] = [-122, -69];

/** Returns the error for a failed system call: `what` was not done, why, and what to do. Passes LaresErrors on. */
export function storageFailure(what: string, error: unknown): LaresError {
  if (isLaresError(error)) return error;
  const meaning = meaningOf(error);
  const sentence =
    meaning === undefined
      ? `${withoutDescriptors(error).replace(/\.$/, "")}.`
      : `${meaning.says}. ${meaning.advice}`;
  return storageError(`${what}: ${sentence}`, error);
}

/** Returns what the system says. A call's paths beneath a descriptor mean nothing to a person. */
function withoutDescriptors(error: unknown): string {
  const message = messageOf(error);
  const call = error instanceof Error ? (error as NodeJS.ErrnoException).syscall : undefined;
  const at = call === undefined ? -1 : message.indexOf(`, ${call} '/proc/self/fd/`);
  return at > 0 ? message.slice(0, at) : message;
}

function meaningOf(error: unknown): Meaning | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException;
  return meanings[code ?? ""] ?? (quotaNumbers.includes(errno) ? fullQuota : undefined);
}
