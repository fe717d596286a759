/*
 * Loaded into a kernel by `--import`: its clock begins at the time that LARES_KERNEL_CLOCK names, and runs from there. The
 * kernel's children and their guests keep the real time.
 */
import process from "node:process";

const begin = Date.parse(process.env["LARES_KERNEL_CLOCK"] ?? "");
if (Number.isFinite(begin)) {
  const realNow = Date.now.bind(Date);
  const aheadMs = begin - realNow();
  globalThis.Date = class extends Date {
    constructor(...parts) {
      if (parts.length === 0) super(realNow() + aheadMs);
      else super(...parts);
    }
    static now() {
      return realNow() + aheadMs;
    }
  };
}
