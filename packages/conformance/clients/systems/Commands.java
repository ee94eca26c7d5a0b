import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** A program that reads a command and its arguments a line, and answers with a line. */
final class Commands {
    interface Answers {
        String answer(String[] words) throws Exception;
    }

    private Commands() {}

    /** Answers until the input ends; then the process ends. A command that fails is answered by "failed" and the reason. */
    static void answerAll(Answers answers) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answers.answer(line.split(" "));
            } catch (Exception e) {
                answer = "failed: " + e;
            }
            System.out.println(answer.replace('\n', ' '));
        }
        System.exit(0);
    }
}
