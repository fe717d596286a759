;;; emacs.el --- What a person does in Emacs, step by step  -*- lexical-binding: t -*-

;; What they see is written down for the test.

(require 'json)

(defvar report nil)
(defvar patience 120 "Seconds; a busy machine needs many.")
(defvar root (file-name-as-directory (getenv "LARES_WORKSPACE")))
(defvar note (concat root "notes/shopping list.md"))

(defun see (name value)
  (push (cons name value) report))

(defun wait-for (what look)
  "Let Emacs live until LOOK gives something, and give it back."
  (let ((deadline (+ (float-time) patience)) found)
    (while (not (setq found (funcall look)))
      (when (> (float-time) deadline)
        (error "Never came: %s; messages: %s" what
               (with-current-buffer "*Messages*" (buffer-string))))
      (accept-process-output nil 0.05))
    found))

(defun visit (path)
  (set-window-buffer nil (find-file-noselect path))
  (set-buffer (find-buffer-visiting path))
  ;; The command that opened the file is over.
  (run-hooks 'post-command-hook)
  (wait-for "eglot" (lambda () (eglot-managed-p))))

(defun on-disk ()
  (with-temp-buffer
    (insert-file-contents note)
    (buffer-string)))

(defun titles ()
  (mapcar (lambda (action) (plist-get action :title)) (eglot-code-actions (point-min))))

(defun title-that-begins (start)
  (seq-find (lambda (title) (string-prefix-p start title)) (titles)))

(defun choose-action (start)
  "M-x eglot-code-actions, and the one whose title begins with START."
  (let ((title (wait-for start (lambda () (title-that-begins start))))
        (last-nonmenu-event ?\r))
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) title)))
      (call-interactively #'eglot-code-actions))))

(defun steps ()
  (visit (concat root "broken/extension.yaml"))
  (see 'diagnostics
       (mapcar (lambda (each)
                 `((line . ,(1- (line-number-at-pos (flymake-diagnostic-beg each))))
                   (message . ,(flymake-diagnostic-text each))))
               (wait-for "diagnostics" #'flymake-diagnostics)))

  (visit (concat root "lares.yaml"))
  (goto-char (point-max))
  (see 'completion (all-completions "" (nth 2 (eglot-completion-at-point))))

  (let (asked)
    (cl-letf (((symbol-function 'yes-or-no-p) (lambda (prompt) (setq asked prompt) t)))
      (call-interactively #'lares-trust))
    (see 'trust_prompt asked))

  (let (answer asked)
    (jsonrpc-async-request
     (eglot-current-server) :lares/tools/call
     `(:agent "test.asker" :name "ask" :arguments ,(make-hash-table))
     :timeout patience
     :success-fn (lambda (result) (setq answer (plist-get result :value)))
     :error-fn (lambda (fault) (setq answer (format "%S" fault))))
    (wait-for "the question"
              (lambda ()
                (with-current-buffer "*Messages*"
                  (string-match-p "a question waits: May test.asker use" (buffer-string)))))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt choices &rest _)
                 (setq asked `((prompt . ,prompt) (offered . ,(mapcar #'car choices))))
                 "Deny")))
      (call-interactively #'lares-questions))
    (wait-for "the answer" (lambda () answer))
    (see 'question `(,@asked (answer . ,answer))))

  (visit note)
  (insert "milk\nbread\n")
  (save-buffer)
  (wait-for "the code action" (lambda () (title-that-begins "Lares: approve")))
  (see 'titles (titles))

  (choose-action "Lares: show changes")
  (see 'changes (with-current-buffer "*Lares changes*" (buffer-string)))

  (choose-action "Lares: approve")
  (wait-for "the change on the disk" (lambda () (string-prefix-p "# " (on-disk))))
  (see 'approved (on-disk))
  (wait-for "the change in the buffer" (lambda () (string-prefix-p "# " (buffer-string))))
  (see 'modified (if (buffer-modified-p) t :json-false))

  (choose-action "Lares: undo")
  (wait-for "the undo on the disk" (lambda () (string-prefix-p "milk" (on-disk))))
  (see 'undone (on-disk)))

(defun trust ()
  (cl-letf (((symbol-function 'yes-or-no-p) (lambda (_prompt) t)))
    (call-interactively #'lares-trust)))

(defun talk ()
  "A conversation in a file that is new."
  (visit (getenv "LARES_TALK"))
  (trust)
  (insert "## You\n\nhello\n")
  ;; Without a person, Emacs is never idle, so it reports changes when the file is saved.
  (save-buffer)
  (choose-action "Lares: send to Steward")
  (wait-for "the answer" (lambda () (string-match-p "- one\n\n## You\n" (buffer-string))))
  (save-buffer)

  (goto-char (point-max))
  (insert "soon\n")
  (save-buffer)
  (choose-action "Lares: send to Steward")
  (see 'working (vconcat (titles)))
  (goto-char (point-max))
  (insert "\nand then\n")
  ;; The edit for the text without these words is refused, and made again.
  (wait-for "the second answer"
            (lambda ()
              (when (buffer-modified-p) (save-buffer))
              (string-match-p "Here it is\n\n## You\n" (buffer-string))))
  (save-buffer)
  (see 'text (buffer-string))
  (wait-for "the next message to be offered" (lambda () (title-that-begins "Lares: send to Steward")))
  (see 'waits (vconcat (titles))))

(condition-case fault
    (let ((debug-on-error nil))
      (if (equal (getenv "LARES_STEPS") "talk") (talk) (steps)))
  (error (see 'fault (format "%S" fault))))
(with-temp-file (getenv "LARES_REPORT")
  (insert (json-encode report)))
(ignore-errors (eglot-shutdown-all))
