import type { VNode } from "preact";
import { count } from "../shared/format.ts";
import { RejectForm } from "./panels.tsx";

interface BatchBarProps {
  /** The number of selected cards. */
  readonly amount: number;
  readonly isRejecting: boolean;
  readonly onApprove: () => void;
  /** Opens the form for the reason. */
  readonly onReject: () => void;
  readonly onRejectWith: (reason: string) => void;
  readonly onClose: () => void;
  readonly onClear: () => void;
}

/** The bar below the cards, with the decisions about all selected ones. */
export function BatchBar({
  amount,
  isRejecting,
  onApprove,
  onReject,
  onRejectWith,
  onClose,
  onClear,
}: BatchBarProps): VNode {
  return (
    <footer class="batch" role="group" aria-label={`${count(amount)} selected`}>
      <span class="grow">
        <strong>{count(amount)} selected</strong>
      </span>
      {isRejecting ? (
        <span class="batch-reject">
          <RejectForm
            words={() => `Reject ${count(amount)}`}
            label={`Reason for rejecting ${count(amount)}`}
            rows={1}
            onReject={onRejectWith}
            onClose={onClose}
          />
        </span>
      ) : (
        <span class="actions">
          <button type="button" class="button" onClick={onApprove}>
            Approve {count(amount)} <kbd aria-hidden="true">⇧A</kbd>
          </button>
          <button type="button" class="button" onClick={onReject}>
            Reject {count(amount)}… <kbd aria-hidden="true">⇧R</kbd>
          </button>
          <button type="button" class="button plain" onClick={onClear}>
            Clear
          </button>
        </span>
      )}
    </footer>
  );
}
