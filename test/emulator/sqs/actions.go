package sqs

func actions() map[string]action {
	return map[string]action{
		"ChangeMessageVisibility":      {Serve: changeMessageVisibility, Effects: true, Needs: needsOnQueue},
		"ChangeMessageVisibilityBatch": {Serve: changeMessageVisibilityBatch, Effects: true, Needs: needsOnQueue},
		"DeleteMessage":                {Serve: deleteMessage, Effects: true, Needs: needsOnQueue},
		"DeleteMessageBatch":           {Serve: deleteMessageBatch, Effects: true, Needs: needsOnQueue},
		"GetQueueAttributes":           {Serve: getQueueAttributes},
		"GetQueueUrl":                  {Serve: getQueueURL, Needs: needsOnQueue},
		"CreateQueue":                  {Serve: createQueue, Effects: true},
		"DeleteQueue":                  {Serve: deleteQueue, Effects: true},
		"ListQueueTags":                {Serve: listQueueTags, Needs: needsOnQueue},
		"ListQueues":                   {Serve: listQueues},
		"SetQueueAttributes":           {Serve: setQueueAttributes, Effects: true},
		"UntagQueue":                   {Serve: untagQueue, Effects: true},
		"TagQueue":                     {Serve: tagQueue, Effects: true},
		"PurgeQueue":                   {Serve: purgeQueue, Effects: true},
		"ReceiveMessage":               {Serve: receiveMessage, Effects: true, Waits: true, Needs: needsOnQueue},
		"SendMessage":                  {Serve: sendMessage, Effects: true, Needs: needsOnQueue},
		"SendMessageBatch":             {Serve: sendMessageBatch, Effects: true},
	}
}
