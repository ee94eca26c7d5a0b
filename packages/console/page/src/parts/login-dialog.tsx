import { useState } from "preact/hooks";
import type { SessionJson } from "../../../src/api/shapes.ts";
import { api, textOf } from "../model/api.ts";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";

interface LoginDialogProps {
  readonly onClose: () => void;
  readonly onDone: (session: SessionJson) => void;
}

export function LoginDialog({ onClose, onDone }: LoginDialogProps) {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<string>();
  const submit = (event: Event): void => {
    event.preventDefault();
    api.login(user, password).then(onDone, (reason: unknown) => setError(textOf(reason)));
  };
  return (
    <Dialog title="Log in" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="hint">
          User and password of a <code>digest</code> identity, as in the access lists of the tree.
        </p>
        <label>
          User
          <input
            autoComplete="username"
            required
            value={user}
            onInput={(event) => setUser(event.currentTarget.value)}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            autoComplete="current-password"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        <Failure text={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Log in
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
