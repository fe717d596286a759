import type { LogOutputChannel } from "vscode";

/** The request whose parameters hold the value of a secret. */
const holdsSecret = /\blares\/secrets\/set\b/;

/**
 * Returns the channel for what editor and kernel say to each other. Where a person set `lares.trace.server` to
 * "verbose", the library writes parameters to it, and a secret's value must be in no log.
 */
export function withoutSecrets(log: LogOutputChannel): LogOutputChannel {
  return Object.create(log, {
    trace: {
      value: (text: string, ...values: unknown[]): void => {
        if (holdsSecret.test(text)) log.trace("Stores a secret; what was said for it is not written.");
        else log.trace(text, ...values);
      },
    },
  }) as LogOutputChannel;
}
