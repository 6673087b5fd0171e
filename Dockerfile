# The static binary on an empty base; nothing is pulled. Build the binary first (README.md says how), then
#     docker build -t corridor .
FROM scratch
ARG BINARY=target/x86_64-unknown-linux-gnu/release/corridor
COPY ${BINARY} /corridor
# A folder for --store that belongs to the user below. Copying is the only way to make one here, and what is copied has to come
# along anyway.
COPY --chown=65532:65532 LICENSE-APACHE LICENSE-MIT /data/
USER 65532:65532
WORKDIR /data
EXPOSE 4242 8080
ENTRYPOINT ["/corridor"]
