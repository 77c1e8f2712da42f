import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Calls a Drover API the way a plugin does, with the JDK's own client and its defaults; prints what came back. */
public class Client {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static String base;
  private static String token;

  public static void main(String[] arguments) throws Exception {
    base = arguments[0];
    token = arguments[1];
    String command = "{\"command\":\"say java\"}";
    show("GET", "/instances", BodyPublishers.noBody());
    show("POST", "/instances/aaaaaa/execute", BodyPublishers.ofString(command));
    show("POST", "/instances/aaaaaa/execute", chunked(command));
    show("PUT", "/instances/aaaaaa/state", BodyPublishers.ofString("{\"state\":\"ONLINE\",\"players\":3}"));
    show("POST", "/instances/aaaaaa/stop", BodyPublishers.noBody());
    show("PATCH", "/instances/aaaaaa/lifecycle?target=start", BodyPublishers.noBody());
    show("DELETE", "/configurations/hello", BodyPublishers.noBody());
    show("GET", "/nothing", BodyPublishers.noBody());
    expecting(command);
    many(command);
    parallel(command);
    webSocket();
  }

  private static HttpRequest.Builder request(String method, String path, BodyPublisher body) {
    return HttpRequest.newBuilder(URI.create(base + path))
        .timeout(Duration.ofSeconds(20))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json")
        .method(method, body);
  }

  private static BodyPublisher chunked(String text) {
    return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static void show(String method, String path, BodyPublisher body) throws Exception {
    HttpResponse<String> answer = CLIENT.send(request(method, path, body).build(), BodyHandlers.ofString());
    System.out.println(method + " " + path + " " + answer.statusCode() + " " + answer.version());
  }

  private static void expecting(String command) throws Exception {
    HttpRequest request =
        request("POST", "/instances/aaaaaa/execute", BodyPublishers.ofString(command)).expectContinue(true).build();
    System.out.println("expect " + CLIENT.send(request, BodyHandlers.ofString()).statusCode());
  }

  private static void many(String command) throws Exception {
    int right = 0;
    for (int round = 0; round < 300; round++) {
      BodyPublisher body = round % 2 == 0 ? BodyPublishers.noBody() : BodyPublishers.ofString(command);
      String path = round % 2 == 0 ? "/instances/aaaaaa" : "/instances/aaaaaa/execute";
      HttpRequest request = request(round % 2 == 0 ? "GET" : "POST", path, body).build();
      if (CLIENT.send(request, BodyHandlers.ofString()).statusCode() == 200) right++;
    }
    System.out.println("many " + right);
  }

  private static void parallel(String command) throws Exception {
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int index = 0; index < 100; index++) {
      HttpRequest request = request("POST", "/instances/aaaaaa/execute", BodyPublishers.ofString(command)).build();
      answers.add(CLIENT.sendAsync(request, BodyHandlers.ofString()));
    }
    int right = 0;
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      if (answer.get(20, TimeUnit.SECONDS).statusCode() == 200) right++;
    }
    System.out.println("parallel " + right);
  }

  private static void webSocket() throws Exception {
    CompletableFuture<String> text = new CompletableFuture<>();
    WebSocket socket =
        CLIENT.newWebSocketBuilder()
            .header("Authorization", "Bearer " + token)
            .buildAsync(URI.create(base.replaceFirst("^http", "ws") + "/console"), new WebSocket.Listener() {
              @Override
              public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
                text.complete(data.toString());
                return null;
              }
            })
            .get(20, TimeUnit.SECONDS);
    socket.sendText("help", true).get(20, TimeUnit.SECONDS);
    System.out.println("websocket " + text.get(20, TimeUnit.SECONDS));
    socket.abort();
  }
}
