import { useState } from "preact/hooks";
import type { SessionJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";
import { TextField } from "./fields.tsx";
import { useAction } from "./use-action.ts";

interface LoginDialogProps {
  readonly onClose: () => void;
  readonly onDone: (session: SessionJson) => void;
}

export function LoginDialog({ onClose, onDone }: LoginDialogProps) {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const action = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    action.run(() => api.login(user, password).then(onDone));
  };
  return (
    <Dialog title="Log in" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="hint">
          User and password of a <code>digest</code> identity, as in the access lists of the tree.
        </p>
        <TextField label="User" autoComplete="username" required value={user} onText={setUser} />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onText={setPassword}
        />
        <Failure text={action.error} />
        <footer>
          <Button text="Cancel" onClick={onClose} />
          <Button text="Log in" type="submit" class="primary" />
        </footer>
      </form>
    </Dialog>
  );
}
