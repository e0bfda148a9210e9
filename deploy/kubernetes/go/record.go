// Records from Go: starts a job on a worker, follows it to its end, and prints it as one line of JSON.
//
//	deploy/kubernetes/record_go.sh --worker HOST:PORT --storage HOST:PORT --channel luns/l0/channels/c0 --blocks 1000
//
// A call with the request_id of an earlier one gets the job of that one, so the call may be made again.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	tapedeck "tapedeck/v1"
)

const (
	callTime = 15 * time.Second // of a call that is answered at once
	tries    = 6
	pipeline = "/tapedeck.v1.PipelineService/"
)

// messages marshals what protoc-gen-go makes; Debian's gRPC is older than it.
type messages struct{}

func (messages) Marshal(v interface{}) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }
func (messages) Unmarshal(data []byte, v interface{}) error {
	return proto.Unmarshal(data, v.(proto.Message))
}
func (messages) Name() string { return "proto" }

func security(cert, key, ca string) (grpc.DialOption, error) {
	if cert == "" {
		return grpc.WithInsecure(), nil
	}
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	believed := x509.NewCertPool()
	if !believed.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", ca)
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: believed, MinVersion: tls.VersionTLS13}
	return grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

// again makes a call until its answer is not lost, tries times at most.
func again(act func() error) error {
	var err error
	for i := 0; i < tries; i++ {
		if err = act(); err == nil || (status.Code(err) != codes.Unavailable && status.Code(err) != codes.DeadlineExceeded) {
			return err
		}
		time.Sleep(time.Second)
	}
	return err
}

func start(worker *grpc.ClientConn, request *tapedeck.StartRecordRequest) (*tapedeck.Job, error) {
	job := &tapedeck.Job{}
	err := again(func() error {
		limited, done := context.WithTimeout(context.Background(), callTime)
		defer done()
		return worker.Invoke(limited, pipeline+"StartRecord", request, job)
	})
	return job, err
}

// follow answers with the job once it has ended.
func follow(worker *grpc.ClientConn, name string) (*tapedeck.Job, error) {
	var job *tapedeck.Job
	err := again(func() error {
		limited, done := context.WithCancel(context.Background())
		defer done()
		stream, err := worker.NewStream(limited, &grpc.StreamDesc{ServerStreams: true}, pipeline+"WatchJob")
		if err != nil {
			return err
		}
		if err := stream.SendMsg(&tapedeck.WatchJobRequest{Name: name}); err != nil {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		for {
			answer := &tapedeck.WatchJobResponse{}
			if err := stream.RecvMsg(answer); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			job = answer.Job
		}
	})
	return job, err
}

func run() error {
	address := flag.String("worker", "", "HOST:PORT")
	storage := flag.String("storage", "", "HOST:PORT, as the worker reaches it")
	channel := flag.String("channel", "", "luns/{lun}/channels/{channel}")
	blocks := flag.Uint64("blocks", 0, "how many")
	id := flag.String("request-id", "", "the same for one recording, however often it is asked for")
	cert := flag.String("tls-cert", "", "PEM file; all three or none")
	key := flag.String("tls-key", "", "PEM file")
	ca := flag.String("tls-ca", "", "PEM file")
	flag.Parse()
	secure, err := security(*cert, *key, *ca)
	if err != nil {
		return err
	}
	worker, err := grpc.Dial(*address, secure, grpc.WithDefaultCallOptions(grpc.ForceCodec(messages{})))
	if err != nil {
		return err
	}
	defer worker.Close()
	job, err := start(worker, &tapedeck.StartRecordRequest{
		Storage: *storage, Channel: *channel, Source: &tapedeck.Stage{Name: "synth"},
		Limit: &tapedeck.StartRecordRequest_Blocks{Blocks: *blocks}, RequestId: *id})
	if err != nil {
		return err
	}
	if job, err = follow(worker, job.Name); err != nil {
		return err
	}
	told := &tapedeck.Job{Name: job.Name, State: job.State, Recording: job.Recording, Blocks: job.Blocks}
	line, err := protojson.Marshal(told)
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	if job.State != tapedeck.JobState_JOB_STATE_SUCCEEDED {
		return fmt.Errorf("%s: %s", job.State, job.GetError().GetMessage())
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
