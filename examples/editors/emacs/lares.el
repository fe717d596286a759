;;; lares.el --- Lares through eglot  -*- lexical-binding: t -*-

;; Emacs 28 with eglot 1.9, or newer: put this file into ~/.emacs.d/ and (load "~/.emacs.d/lares") into init.el.

(require 'eglot)
(require 'project)

(defvar lares-modes
  '(text-mode markdown-mode gfm-mode org-mode yaml-mode yaml-ts-mode conf-toml-mode toml-ts-mode)
  "Modes whose buffers Lares looks after where a lares.yaml is above them.
Eglot knows one server per buffer: leave out a mode that has a language server of its own.")

;; Emacs has no mode for these by itself; what is installed for them comes first.
(add-to-list 'auto-mode-alist '("/\\(lares\\|extension\\)\\.ya?ml\\'" . text-mode) t)
(add-to-list 'auto-mode-alist '("\\.md\\'" . text-mode) t)

(defclass lares-server (eglot-lsp-server) () "The kernel of a folder.")

(defvar-local lares--root nil "The folder with the lares.yaml above this buffer's file.")

(defun lares--plain (text)
  "TEXT from agents on one line, without control characters and marks that turn text around."
  (replace-regexp-in-string
   "[\u200e\u200f\u2028-\u202e\u2066-\u2069]" "?" (replace-regexp-in-string "[[:cntrl:]]+" " " text)))

(defun lares--start ()
  "Start or join the kernel of this buffer's folder."
  (setq lares--root
        (and buffer-file-name
             (memq major-mode lares-modes)
             (locate-dominating-file
              buffer-file-name
              (lambda (folder)
                (seq-some (lambda (name) (file-exists-p (expand-file-name name folder)))
                          '("lares.yaml" "lares.yml" "lares.toml"))))))
  (when lares--root
    (setq-local eglot-server-programs `((,lares-modes . (lares-server "lares" "serve" "--stdio"))))
    (eglot-ensure)))

(dolist (mode lares-modes)
  (add-hook (intern (format "%s-hook" mode)) #'lares--start))

(defun lares--project (_folder)
  "For eglot, the folder of the lares.yaml is the project, whatever repository it lies in."
  (and (bound-and-true-p eglot-lsp-context) lares--root
       (cons 'lares (expand-file-name lares--root))))
(add-hook 'project-find-functions #'lares--project)
(cl-defmethod project-root ((project (head lares))) (cdr project))

(cl-defmethod eglot-handle-notification
  ((_server lares-server) (_method (eql 'lares/actions/changed)) &key title state effects &allow-other-keys)
  "An action waits for an answer, or has changed files."
  (when (equal state "PendingApproval")
    (message "Lares: '%s' waits: M-x eglot-code-actions in %s"
             (lares--plain title) (lares--plain (plist-get (aref effects 0) :path))))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and lares--root (not (buffer-modified-p)) (not (verify-visited-file-modtime buffer))
                 (file-exists-p buffer-file-name))
        (revert-buffer t t t)))))

(cl-defmethod eglot-handle-notification
  ((_server lares-server) (_method (eql 'lares/notify)) &key agent title message &allow-other-keys)
  "An agent has something to say."
  (message "Lares: %s" (lares--plain (format "%s: %s. %s" agent title message))))

(cl-defmethod eglot-handle-notification
  ((_server lares-server) (_method (eql 'lares/asks/changed)) &key title state &allow-other-keys)
  "A call of an agent waits for an answer."
  (when (equal state "Pending")
    (message "Lares: a question waits: %s M-x lares-questions answers it." (lares--plain title))))

(defun lares--show-changes (server id)
  "The diffs of SERVER's action ID in a window of their own."
  (let ((action (jsonrpc-request server :lares/actions/get (list :id id))))
    (with-current-buffer (get-buffer-create "*Lares changes*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (lares--plain (plist-get action :title)) "\n"
                (lares--plain (plist-get action :reason)) "\n\n")
        (seq-doseq (effect (plist-get action :effects))
          (insert (lares--plain (plist-get effect :summary)) "\n" (or (plist-get effect :diff) "") "\n")))
      (diff-mode)
      (setq buffer-read-only t)
      (goto-char (point-min))
      (display-buffer (current-buffer)))))

;; In a chat file the person has asked for what the kernel writes; eglot would ask once more.
(defvar eglot-confirm-server-edits)
(cl-defmethod eglot-handle-request
  ((_server lares-server) (_method (eql 'workspace/applyEdit)) &key _label _edit)
  "Apply an edit of the kernel."
  (let ((eglot-confirm-server-initiated-edits nil)
        (eglot-confirm-server-edits nil))
    (cl-call-next-method)))

;; How eglot 1.9 runs a command,
(cl-defmethod eglot-execute-command
  ((server lares-server) (_command (eql 'lares.action.show)) arguments)
  (lares--show-changes server (plist-get (aref arguments 0) :id)))

;; and how later ones do.
(cl-defmethod eglot-execute ((server lares-server) action)
  (let* ((command (plist-get action :command))
         (chosen (if (stringp command) action command)))
    (if (equal (plist-get chosen :command) "lares.action.show")
        (lares--show-changes server (plist-get (aref (plist-get chosen :arguments) 0) :id))
      (cl-call-next-method))))

(defun lares-trust ()
  "Show what the agents of this folder ask for, and let them run."
  (interactive)
  (let* ((server (or (eglot-current-server) (user-error "This buffer is in no folder with a lares.yaml")))
         (status (jsonrpc-request server :lares/status (make-hash-table)))
         (trust (plist-get status :trust)))
    (if (eq (plist-get status :trusted) t)
        (message "Lares: this folder is trusted.")
      (when (yes-or-no-p (format "Agents of this folder ask for:\n%s\nLet them? "
                                 (mapconcat #'lares--plain (plist-get trust :asks) "\n")))
        (jsonrpc-request server :lares/trust (list :trusted t :digest (plist-get trust :digest)))
        (message "Lares: the agents of this folder run.")))))

(defvar lares--scopes
  '(("once" . "Allow once") ("conversation" . "Allow in this conversation") ("always" . "Allow always")))

(defun lares--ask (server ask)
  "Put ASK of SERVER to the person."
  (let* ((answers (append (mapcar (lambda (scope) (cons (cdr (assoc scope lares--scopes)) scope))
                                  (plist-get ask :scopes))
                          '(("Deny" . nil) ("Later" . later))))
         (from (plist-get ask :sources))
         (prompt (format "%s\n%s%s\n" (lares--plain (plist-get ask :title)) (lares--plain (plist-get ask :reason))
                         (if (seq-empty-p from) ""
                           (concat "\nIt follows from: " (mapconcat #'lares--plain from ", ")))))
         (choice (cdr (assoc (completing-read prompt answers nil t) answers))))
    (unless (eq choice 'later)
      (jsonrpc-request server :lares/asks/answer
                       `(:id ,(plist-get ask :id) :digest ,(plist-get ask :digest)
                         :allow ,(if choice t :json-false) ,@(and choice (list :remember choice)))))))

(defun lares-questions ()
  "Answer the questions that agents wait for, the oldest first."
  (interactive)
  (let* ((server (or (eglot-current-server) (user-error "This buffer is in no folder with a lares.yaml")))
         (asks (jsonrpc-request server :lares/asks/list '(:state "Pending"))))
    (if (seq-empty-p asks)
        (message "Lares: no question waits.")
      (seq-doseq (ask (seq-reverse asks)) (lares--ask server ask)))))

(provide 'lares)
;;; lares.el ends here
