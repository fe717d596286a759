import { LaresError, type ErrorFacts } from "../base/errors.ts";

/** Why a package is refused, as a word for programs. */
type PackageFault =
  | "damaged"
  | "too-large"
  | "bomb"
  | "bad-name"
  | "duplicate-name"
  | "link"
  | "record"
  | "signature"
  | "changed"
  | "extra-file"
  | "missing-file"
  | "manifest"
  | "publisher"
  | "older"
  | "index";

/** The package is not used. The message says what is wrong with it; `facts.fault` is for programs. */
export function refusedPackage(fault: PackageFault, message: string, facts: ErrorFacts = {}): LaresError {
  return new LaresError("InvalidDocument", message, { fault, ...facts });
}
