package table;

import io.grpc.CallCredentials;
import io.grpc.Metadata;
import java.util.concurrent.Executor;

/** The credential of a call: the platform's key or a seat's token. */
final class Bearer extends CallCredentials {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Metadata headers = new Metadata();

  Bearer(String credential) {
    headers.put(AUTHORIZATION, "Bearer " + credential);
  }

  @Override
  public void applyRequestMetadata(RequestInfo request, Executor executor, MetadataApplier applier) {
    applier.apply(headers);
  }
}
